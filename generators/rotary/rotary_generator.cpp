// Binds signature, algorithm and schedule of the rotary embedding. No arithmetic and no loop order here.
#include "../common/declared_arguments.h"
#include "../common/estimates.h"
#include "../common/facts.h"
#include "../passes/instructions/bf16_roundings.h"
#include "../passes/instructions/half_vectors.h"
#include "../passes/instructions/prefetched_lines.h"
#include "rotary_schedules.h"

namespace gyre::rotary {

class RotaryGenerator : public Halide::Generator<RotaryGenerator> {
public:
    // Variant: spelled in the kernel's name.
    GeneratorParam<Pairing> pairing{
        "pairing", Pairing::half, {{"half", Pairing::half}, {"interleaved", Pairing::interleaved}}};
    GeneratorParam<Halide::Type> from_dtype{"from_dtype", Halide::Float(32)}, dtype{"dtype", Halide::Float(32)};
    GeneratorParam<bool> streamed{"streamed", false}; // whole heads, stored past the caches

    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    // Knobs: set from generators/tuning/<target>.json, never spelled in the name.
    GeneratorParam<int> lanes{"lanes", 0, 0, 64};
    GeneratorParam<int> usual_lengths{"usual_lengths", 1, 0, 1};
    GeneratorParam<int> vector_copies{"vector_copies", 0, 0, 1};
    GeneratorParam<int> rows{"rows", 1, 1, 8};

    DeclaredArguments arguments;
#include "rotary_arguments.inc"

    void configure() {
        arguments.declare(*this, {{"fixed_point", dtype.value().is_int()}},
                          {{"from_dtype", from_dtype}, {"dtype", dtype}});
    }

    void generate() {
        if (streamed) return generate_streamed();
        Knobs knobs{lanes, usual_lengths, vector_copies, rows};
        if (knobs.lanes == 0) knobs.lanes = natural_vector_size<float>();
        // Little code: whole vectors, and what is left.
        const bool little_code = !usual_lengths && !using_autoscheduler();
        const auto whole = [&](bool wanted, const Halide::Expr &count) {
            return wanted ? count / knobs.lanes * knobs.lanes : Halide::Expr();
        };
        if (get_target().os == Halide::Target::NoOS) bind_dense();
        const bool by_instruction = has_bf16_rounding(get_target());
        const Bf16 bf16 = by_instruction ? Bf16::by_instruction : Bf16::as_integers;
        const int rest_lanes = little_code ? 0 : lanes_of_rest(knobs.lanes);
        const Inputs in{x,
                        cos,
                        sin,
                        offset,
                        pairs,
                        direction,
                        whole(little_code || rest_lanes, pairs),
                        copied_before,
                        after,
                        copied_after,
                        whole(little_code && vector_copies, copied_after),
                        bf16};
        Stages stages = algorithm(in, pairing, out, dtype);
        map_half_vectors(*this);
        if (by_instruction) map_bf16_roundings(*this);
        if (using_autoscheduler())
            estimate();
        else
            schedule_cpu(stages, in, cos.dim(1).stride() == 0 && sin.dim(1).stride() == 0, rest_lanes, knobs);
        publish_facts(*this, facts, {}, using_autoscheduler());
    }

private:
    /// Pairs at once of those that fill no vector: half a vector on AVX2, where heads of 40, 56, 72, 88, 104 and 120 features leave as many.
    /// 0: they are the tail of the vectors' loop, which AVX-512 masks; on other targets nothing else was measured.
    int lanes_of_rest(int vector_lanes) {
        const Halide::Target target = get_target();
        const bool measured = target.has_feature(Halide::Target::AVX2) && !target.has_feature(Halide::Target::AVX512);
        return measured && !using_autoscheduler() ? vector_lanes / 2 : 0;
    }

    /// Makes the kernel for large outputs: heads of which every feature is rotated, in a whole number of vectors, and stored to addresses that
    /// are multiples of a vector.
    void generate_streamed() {
        const bool half = pairing == Pairing::half; // whose pairs are two vectors of the output; others' are one
        const int vector_lanes = half ? natural_vector_size(dtype) : natural_vector_size<float>();
        const bool by_instruction = has_bf16_rounding(get_target());
        const Halide::Expr whole = pairs / vector_lanes * vector_lanes;
        Stages stages = algorithm({x,
                                   cos,
                                   sin,
                                   0,
                                   whole,
                                   direction,
                                   {},
                                   0,
                                   0,
                                   0,
                                   {},
                                   by_instruction ? Bf16::by_instruction : Bf16::as_integers},
                                  pairing, out, dtype);
        map_half_vectors(*this);
        if (by_instruction) map_bf16_roundings(*this);
        map_prefetches(*this);
        schedule_streamed(stages, pairs, *x, vector_lanes);
        publish_facts(*this, facts, {{"vector_bytes", natural_vector_size<uint8_t>()}});
    }

    /// What gyre_embedded calls with: rows of one layout, and tables of one, whose rows all heads of a token share.
    void bind_dense() {
        for (int d : {0, 1, 2}) {
            x.dim(d).set_min(0);
            out.dim(d).set_min(0);
            for (auto *table : {&cos, &sin}) table->dim(d).set_min(0);
        }
        for (int d : {1, 2}) x.dim(d).set_stride(out.dim(d).stride());
        cos.dim(1).set_stride(0);
        sin.dim(1).set_stride(0);
        sin.dim(2).set_stride(cos.dim(2).stride());
    }

    /// A run of tokens of a few whole heads, for autoschedulers, which fail at loops of no iteration.
    void estimate() {
        const int features = 128, tokens = 64, heads = 8;
        estimate_extents({features, tokens, heads}, x, out);
        estimate_extents({features / 2, tokens, heads}, cos, sin);
        estimate_value(features / 2, pairs);
        estimate_value(1.0f, direction);
        estimate_value(0, offset, after);
        estimate_value(1, copied_before, copied_after);
    }
};

} // namespace gyre::rotary

HALIDE_REGISTER_GENERATOR(gyre::rotary::RotaryGenerator, rotary)
