// Binds signature, algorithm and schedule of the rotation angles. No arithmetic and no loop order here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "angles_schedules.h"

namespace gyre::angles {

class AnglesGenerator : public Halide::Generator<AnglesGenerator> {
public:
    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    // Knobs: set from generators/tuning/<target>.json, never spelled in the name.
    GeneratorParam<int> lanes{"lanes", 0, 0, 64};
    GeneratorParam<int> usual_axes{"usual_axes", 1, 0, 1};

    DeclaredArguments arguments;
#include "angles_arguments.inc"

    void configure() { arguments.declare(*this); }

    void generate() {
        Knobs knobs{lanes, usual_axes};
        if (knobs.lanes == 0) knobs.lanes = natural_vector_size<float>();
        const Halide::Expr axes = positions.dim(1).extent();
        positions.dim(0).set_stride(Halide::Expr()); // a token's position may be repeated by a stride of 0
        Stages stages = algorithm({positions, frequencies, axis_of_pair, axes, scale}, table);
        schedule_cpu(stages, axes, knobs);
        publish_facts(*this, facts, {});
    }
};

} // namespace gyre::angles

HALIDE_REGISTER_GENERATOR(gyre::angles::AnglesGenerator, angles)
