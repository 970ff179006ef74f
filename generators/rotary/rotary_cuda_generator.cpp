// Binds signature, algorithm and schedule of the rotary embedding on CUDA: the same algorithm, whose angles are formed on the
// way instead of being read from a table, for whole tensors in one launch; and the same into a cache, at slots that the device
// finds. No arithmetic and no loop order here.
#include "../common/declared_arguments.h"
#include "../common/facts.h"
#include "../passes/cuda/lower.h"
#include "../passes/cuda/primitives.h"
#include "../passes/cuda/turns.h"
#include "cache_slots.h"
#include "rotary_schedules.h"

namespace gyre::rotary {

class RotaryCudaGenerator : public Halide::Generator<RotaryCudaGenerator> {
public:
    GeneratorParam<Pairing> pairing{
        "pairing", Pairing::half, {{"half", Pairing::half}, {"interleaved", Pairing::interleaved}}};
    GeneratorParam<Halide::Type> from_dtype{"from_dtype", Halide::Float(32)}, dtype{"dtype", Halide::Float(32)};
    GeneratorParam<bool> appended{"appended", false}; // out is a cache
    GeneratorParam<std::string> facts{"facts", ""};
    GeneratorParam<std::string> device_code{"device_code", ""}; // where to write the CUDA C++

    // Knobs.
    GeneratorParam<int> lanes{"lanes", 8, 1, 16}, copy_lanes{"copy_lanes", 8, 1, 16};
    GeneratorParam<int> tokens{"tokens", 16, 1, 64}, runs{"runs", 8, 1, 32}, heads{"heads", 8, 1, 64};

    DeclaredArguments arguments;
#include "rotary_cuda_arguments.inc"

    void configure() {
        arguments.declare(*this, {{"appended", appended}}, {{"from_dtype", from_dtype}, {"dtype", dtype}});
    }

    void generate() {
        using namespace Halide;
        Var i("i"), a("a"), b("b"), c("c");
        const PackedSequences packed_sequences{bounds, packed, sequences};
        bounds.dim(0).set_min(0);
        std::vector<CacheSlot> slots;                           // of the updates that store
        std::vector<Func> sequences_of{Func(), Func(), Func()}; // undefined: a copy beside that needs none
        Expr place;                                             // of a token where no positions are given
        if (appended) {
            int update = 0;
            for (const char *name : {"sequence_before", "sequence_after", "sequence_rotated"}) {
                slots.push_back(cache_slot(lists(packed_sequences), name));
                sequences_of[static_cast<size_t>(update++)] = slots.back().token.sequence;
            }
            place = slots.back().key;
        } else {
            const PackedToken token = packed_token(packed_sequences, "sequence_rotated");
            sequences_of.back() = token.sequence;
            place = position_offset + b - token.first;
        }
        const Expr axis = cast<int32_t>(axis_of_pair(i));
        const Expr position =
            cuda::choose(has_positions, positions(b, c, clamp(axis, 0, positions.dim(2).extent() - 1)), place);
        const Expr row = cuda::choose(per_token, b, clamp(position, 0, cos.dim(1).extent() - 1));
        const Expr entry = select(per_token, c, 0);
        const Tuple angle = cuda::sincos_of_turns(position, frequencies(i));
        CudaAngles angles{Func("angles"), i};
        angles.both(i, b, c) = Tuple(cuda::choose(has_tables, cos(i, row, entry), angle[0] * scale),
                                     cuda::choose(has_tables, sin(i, row, entry), angle[1] * scale));
        Func cos_of("cos_of"), sin_of("sin_of");
        cos_of(i, a, b, c) = angles.both(i, b, c)[0];
        sin_of(i, a, b, c) = angles.both(i, b, c)[1];

        for (int d = 0; d < 4; d++) {
            x.dim(d).set_min(0);
            out.dim(d).set_min(0);
        }
        for (int d = 0; d < 3; d++) {
            cos.dim(d).set_min(0);
            sin.dim(d).set_min(0);
            positions.dim(d).set_min(0);
        }
        positions.dim(0).set_stride(Expr()); // the lower words of 64-bit positions lie apart
        frequencies.dim(0).set_min(0);
        axis_of_pair.dim(0).set_min(0);
        Func from = x;
        if (appended) {
            Var d("d");
            const Tuple place_of_input = slot_of_input(lists(packed_sequences), x.dim(3).extent(), b, c);
            from = Func("from");
            from(d, a, b, c) = x(d, a, place_of_input[0], place_of_input[1]);
        }
        Inputs in{from,   cos_of,        sin_of, offset,       pairs,  direction,
                  Expr(), copied_before, after,  copied_after, Expr(), Bf16::as_casts};
        if (appended)
            in.place = [&](const Expr &value, int n) {
                const CacheSlot &slot = slots[static_cast<size_t>(n)];
                return cuda::placed(value, slot.distance, slot.exists);
            };
        Stages stages = algorithm(in, pairing, out, dtype);
        schedule_cuda(stages, pairing, angles, sequences_of, {lanes, copy_lanes, tokens, runs, heads});
        const int most_pairs = 256;
        cuda::lower_to_cuda(*this, {device_code,
                                    {{"frequencies", most_pairs}, {"axis_of_pair", most_pairs}},
                                    (most_pairs + lanes - 1) / lanes * tokens});
        publish_facts(*this, facts, {{"most_pairs", most_pairs}});
    }

private:
    CacheLists lists(const PackedSequences &tokens) {
        held.dim(0).set_min(0);
        for (int n = 0; n < 2; n++) page_table.dim(n).set_min(0);
        return {tokens,     held,    has_held,     from_pages,
                page_table, paged,   page_bits,    page_table.dim(0).extent(),
                capacity,   entries, entry_stride, out.dim(2).stride()};
    }
};

} // namespace gyre::rotary

HALIDE_REGISTER_GENERATOR(gyre::rotary::RotaryCudaGenerator, rotary_cuda)
