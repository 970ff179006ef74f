// Binds signature, algorithm and schedule of the rotation angles on CUDA, of all tokens in one launch. No arithmetic and no loop
// order here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "../../passes/cuda/lower.h"
#include "angles_schedules.h"

namespace gyre::angles {

class AnglesCudaGenerator : public Halide::Generator<AnglesCudaGenerator> {
public:
    GeneratorParam<std::string> facts{"facts", ""};
    GeneratorParam<std::string> device_code{"device_code", ""}; // where to write the CUDA C++

    // Knobs.
    GeneratorParam<int> pairs{"pairs", 32, 1, 256}, tokens{"tokens", 8, 1, 64};

    // The angles, as attention on CUDA takes those of its queries.
    DeclaredArguments arguments;
#include "angles_cuda_arguments.inc"

    void configure() { arguments.declare(*this); }

    void generate() {
        positions.dim(0).set_stride(Halide::Expr()); // the lower words of 64-bit positions lie apart
        for (int n = 0; n < 3; n++) positions.dim(n).set_min(0);
        for (auto *t : {&cos, &sin}) {
            t->dim(0).set_min(0);
            t->dim(1).set_min(0);
        }
        frequencies.dim(0).set_min(0);
        axis_of_pair.dim(0).set_min(0);
        for (int n = 0; n < 4; n++) table.dim(n).set_min(0);
        CudaStages s = cuda_algorithm({{frequencies, axis_of_pair, cos, sin, cos.dim(1).extent(), has_tables, scale},
                                       {positions, has_positions, positions.dim(2).extent()}},
                                      table);
        schedule_cuda(s, {pairs, tokens});
        const int most_pairs = 128;
        cuda::lower_to_cuda(*this, {device_code, {{"frequencies", most_pairs}, {"axis_of_pair", most_pairs}}});
        publish_facts(*this, facts, {{"most_pairs", most_pairs}});
    }
};

} // namespace gyre::angles

HALIDE_REGISTER_GENERATOR(gyre::angles::AnglesCudaGenerator, angles_cuda)
