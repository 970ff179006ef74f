// Binds signature, algorithm and schedule of linear attention's features on CUDA: of whole tensors in one launch, and in any strides, which
// turns rows into columns. No arithmetic and no loop order here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "../../passes/cuda/lower.h"
#include "features_schedules.h"

namespace gyre::features {

class FeaturesCudaGenerator : public Halide::Generator<FeaturesCudaGenerator> {
public:
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::Float(32)};
    GeneratorParam<std::string> facts{"facts", ""};
    GeneratorParam<std::string> device_code{"device_code", ""}; // where to write the CUDA C++

    DeclaredArguments arguments;
#include "features_cuda_arguments.inc"

    void configure() { arguments.declare(*this, {}, {{"dtype", dtype}}); }

    void generate() {
        for (int at = 0; at < 4; at++) {
            x.dim(at).set_min(0);
            out.dim(at).set_min(0);
        }
        out.dim(0).set_stride(Halide::Expr());
        TensorStages stages = algorithm_of_tensors(x, mapped, get_target(), out);
        schedule_cuda(stages);
        cuda::lower_to_cuda(*this, {device_code, {}});
        publish_facts(*this, facts, {});
    }
};

} // namespace gyre::features

HALIDE_REGISTER_GENERATOR(gyre::features::FeaturesCudaGenerator, features_cuda)
