// Binds signature, algorithm and schedule of the row sums that attention's gradients need. No arithmetic and no loop order here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "delta_schedules.h"

namespace gyre::delta {

class DeltaGenerator : public Halide::Generator<DeltaGenerator> {
public:
    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    DeclaredArguments arguments;
#include "delta_arguments.inc"

    void configure() { arguments.declare(*this); }

    void generate() {
        const int lanes = natural_vector_size<float>();
        for (auto *rows : {&out, &out_grad})
            for (int d : {0, 1}) rows->dim(d).set_min(0);
        lse.dim(0).set_min(0);
        delta.dim(0).set_min(0);
        power.dim(0).set_min(0);
        power.dim(0).set_extent(delta.dim(0).extent());
        Stages stages = algorithm({out, out_grad, lse, out.dim(0).extent()}, lanes, delta, power);
        schedule_cpu(stages, lanes);
        publish_facts(*this, facts, {});
    }
};

} // namespace gyre::delta

HALIDE_REGISTER_GENERATOR(gyre::delta::DeltaGenerator, delta)
