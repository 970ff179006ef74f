// Binds signature, algorithm and schedule of the row sums that attention's gradients need, on CUDA, whole tensors in one launch.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "../../math/storage.h"
#include "../../passes/cuda/lower.h"

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
        using namespace Halide;
        Var i("i"), h("h"), z("z"), rows("rows"), row("row");
        for (auto *t : {&out, &out_grad})
            for (int n = 0; n < 4; n++) t->dim(n).set_min(0);
        for (int n = 0; n < 3; n++) delta.dim(n).set_min(0);
        RDom d(0, out.dim(0).extent(), "d");
        const auto number = [&](const InputBuffer &of) { return widen(of(d, h, i, z), Bf16::as_casts); };
        Func sum("sum");
        sum(i, h, z) += number(out) * number(out_grad);
        Func result = delta;
        result(i, h, z) = sum(i, h, z);
        // A thread adds up a row: this is a small part of what gradients take.
        result.split(i, rows, row, threads, TailStrategy::GuardWithIf).gpu_blocks(rows, h, z).gpu_threads(row);
        sum.compute_at(result, row).store_in(MemoryType::Register);
        cuda::lower_to_cuda(*this, {device_code, {}});
        publish_facts(*this, facts, {});
    }

private:
    static constexpr int threads = 64; // of a block
};

} // namespace gyre::delta

HALIDE_REGISTER_GENERATOR(gyre::delta::DeltaCudaGenerator, delta_cuda)
