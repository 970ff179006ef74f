// Binds signature, algorithm and schedule of merging. No arithmetic and no loop order here.
#include "../../common/declared_arguments.h"
#include "../../common/estimates.h"
#include "../../common/facts.h"
#include "../../passes/instructions/half_vectors.h"
#include "merge_schedules.h"

namespace gyre::merge {

class MergeGenerator : public Halide::Generator<MergeGenerator> {
public:
    // Variant: spelled in the kernel's name.
    GeneratorParam<Halide::Type> part_dtype{"part_dtype", Halide::Float(32)};
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::Float(32)};

    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    DeclaredArguments arguments;
#include "merge_arguments.inc"

    void configure() { arguments.declare(*this, {}, {{"part_dtype", part_dtype}, {"dtype", dtype}}); }

    void generate() {
        for (int d = 0; d < 3; d++) {
            part_lse.dim(d).set_min(0);
            out.dim(d).set_min(0);
        }
        for (int d = 0; d < 4; d++) part_out.dim(d).set_min(0);
        for (int d = 0; d < 2; d++) lse.dim(d).set_min(0);
        sinks.dim(0).set_min(0).set_stride(Halide::Expr()); // 0 where there are none
        const Halide::Expr parts = part_lse.dim(2).extent(), heads = out.dim(1).extent();
        Stages stages = algorithm({part_out, part_lse, parts, {}, sinks, false, heads}, out, lse, dtype);
        if (using_autoscheduler())
            estimate();
        else
            schedule_cpu(stages, parts, out.dim(2).extent(), natural_vector_size<float>());
        map_half_vectors(*this);
        publish_facts(*this, facts, {{"most_tokens", most_tokens}, {"most_heads", most_heads}}, using_autoscheduler());
    }

private:
    /// A token of some heads, in a few parts, for autoschedulers.
    void estimate() {
        const int features = 128, heads = 32, tokens = 1, parts = 8;
        estimate_extents({heads}, sinks);
        estimate_extents({features, heads, tokens, parts}, part_out);
        estimate_extents({tokens, heads, parts}, part_lse);
        estimate_extents({features, heads, tokens}, out);
        estimate_extents({tokens, heads}, lse);
    }
};

} // namespace gyre::merge

HALIDE_REGISTER_GENERATOR(gyre::merge::MergeGenerator, merge)
