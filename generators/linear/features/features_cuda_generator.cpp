// Binds signature, algorithm and schedule of linear attention's features on CUDA: of whole tensors in one launch, and in any strides, which
// turns rows into columns.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "../../math/feature.h"
#include "../../math/storage.h"
#include "../../passes/cuda/lower.h"

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
        using namespace Halide;
        Var d("d"), h("h"), i("i"), z("z"), runs("runs"), run("run"), n("n"), tokens("tokens"), token("token");
        for (int at = 0; at < 4; at++) {
            x.dim(at).set_min(0);
            out.dim(at).set_min(0);
        }
        Func result = out;
        out->dim(0).set_stride(Expr());
        const Expr number = widen(x(d, h, i, z), Bf16::as_casts);
        result(d, h, i, z) = select(mapped, feature(number, get_target()), number);
        // Lanes walk along tokens, so that columns are written whole; a thread reads features that lie together.
        result.split(d, runs, n, features, TailStrategy::GuardWithIf)
            .split(runs, runs, run, runs_of_block, TailStrategy::GuardWithIf)
            .split(i, tokens, token, tokens_of_block, TailStrategy::GuardWithIf)
            .reorder(n, token, run, runs, tokens, h, z)
            .unroll(n)
            .gpu_blocks(tokens, h, z)
            .gpu_threads(token, run);
        cuda::lower_to_cuda(*this, {device_code, {}});
        publish_facts(*this, facts, {});
    }

private:
    static constexpr int features = 4, runs_of_block = 8, tokens_of_block = 32;
};

} // namespace gyre::features

HALIDE_REGISTER_GENERATOR(gyre::features::FeaturesCudaGenerator, features_cuda)
