// Binds signature, algorithm and schedule of the gradients of linear attention's features. No arithmetic and no loop order
// here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "../../passes/instructions/half_vectors.h"
#include "slopes_schedules.h"

namespace gyre::slopes {

class SlopesGenerator : public Halide::Generator<SlopesGenerator> {
public:
    // Variant: spelled in the kernel's name.
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::Float(32)};

    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    DeclaredArguments arguments;
#include "slopes_arguments.inc"

    void configure() { arguments.declare(*this, {}, {{"dtype", dtype}}); }

    void generate() {
        for (int d : {0, 1}) {
            x.dim(d).set_min(0);
            out.dim(d).set_min(0);
            for (auto *rows : {&product, &sums}) rows->dim(d).set_min(0);
        }
        weight.dim(0).set_min(0);
        Stages stages = algorithm({x, product, sums, weight}, get_target(), out, dtype);
        schedule_cpu(stages, natural_vector_size<float>());
        map_half_vectors(*this);
        publish_facts(*this, facts, {});
    }
};

} // namespace gyre::slopes

HALIDE_REGISTER_GENERATOR(gyre::slopes::SlopesGenerator, slopes)
