// Binds signature, algorithm and schedule of the row sums that attention's gradients need, on CUDA, whole tensors in one launch. No arithmetic and no
// loop order here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "../../passes/cuda/lower.h"
#include "delta_schedules.h"

namespace gyre::delta {

/// delta_i = <out_i, out_grad_i>, in f32.
class DeltaCudaGenerator : public Halide::Generator<DeltaCudaGenerator> {
public:
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::BFloat(16)};
    GeneratorParam<std::string> facts{"facts", ""};
    GeneratorParam<std::string> device_code{"device_code", ""}; // where to write the CUDA C++

    DeclaredArguments arguments;
#include "delta_cuda_arguments.inc"

    void configure() { arguments.declare(*this, {}, {{"dtype", dtype}}); }

    void generate() {
        for (auto *t : {&out, &out_grad})
            for (int n = 0; n < 4; n++) t->dim(n).set_min(0);
        for (int n = 0; n < 3; n++) delta.dim(n).set_min(0);
        RowStages stages = algorithm_of_rows(out, out_grad, out.dim(0).extent(), delta);
        schedule_cuda(stages);
        cuda::lower_to_cuda(*this, {device_code, {}});
        publish_facts(*this, facts, {});
    }
};

} // namespace gyre::delta

HALIDE_REGISTER_GENERATOR(gyre::delta::DeltaCudaGenerator, delta_cuda)
