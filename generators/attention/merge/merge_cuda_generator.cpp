// Binds signature, algorithm and schedule of merging on CUDA, whole tensors in one launch. No arithmetic and no loop order here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "../../passes/cuda/lower.h"
#include "../../passes/cuda/primitives.h"
#include "merge_schedules.h"

namespace gyre::merge {

class MergeCudaGenerator : public Halide::Generator<MergeCudaGenerator> {
public:
    // Variant.
    GeneratorParam<Halide::Type> part_dtype{"part_dtype", Halide::Float(32)};
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::Float(32)};
    GeneratorParam<bool> few_rows{"few_rows", false};
    GeneratorParam<std::string> facts{"facts", ""};
    GeneratorParam<std::string> device_code{"device_code", ""}; // where to write the CUDA C++

    DeclaredArguments arguments;
#include "merge_cuda_arguments.inc"

    void configure() { arguments.declare(*this, {}, {{"part_dtype", part_dtype}, {"dtype", dtype}}); }

    void generate() {
        for (int d = 0; d < 4; d++) {
            part_lse.dim(d).set_min(0);
            out.dim(d).set_min(0);
        }
        for (int d = 0; d < 5; d++) part_out.dim(d).set_min(0);
        for (int d = 0; d < 3; d++) lse.dim(d).set_min(0);
        sinks.dim(0).set_min(0);
        const Halide::Var z("z"), h("h");
        Halide::Func sink("sink");
        sink(h) = cuda::choose(has_sinks, Halide::max(sinks(h), no_sink), no_sink);
        if (few_rows) { // whole vectors of features
            part_out.dim(0).set_extent(part_out.dim(0).extent() / features_at_once * features_at_once);
            out.dim(0).set_extent(part_out.dim(0).extent());
        }
        Stages stages = algorithm({part_out, part_lse, part_lse.dim(3).extent(), {z}, sink, few_rows}, out, lse, dtype);
        schedule_cuda(stages, z);
        cuda::Lowering lowering;
        lowering.device_code = device_code;
        lowering.most_threads = most_features;
        if (few_rows) {
            lowering.aligned = {"part_out"};
            lowering.blocks_at_once = 1; // registers for all loads of a turn
        }
        cuda::lower_to_cuda(*this, lowering);
        publish_facts(*this, facts, {});
    }
};

} // namespace gyre::merge

HALIDE_REGISTER_GENERATOR(gyre::merge::MergeCudaGenerator, merge_cuda)
