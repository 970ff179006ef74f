// Binds signature, algorithm and schedule of linear attention's features. No arithmetic and no loop order here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "../../passes/instructions/half_vectors.h"
#include "features_schedules.h"

namespace gyre::features {

class FeaturesGenerator : public Halide::Generator<FeaturesGenerator> {
public:
    // Variant: spelled in the kernel's name.
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::Float(32)};

    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    DeclaredArguments arguments;
#include "features_arguments.inc"

    void configure() { arguments.declare(*this, {}, {{"dtype", dtype}}); }

    void generate() {
        for (int d : {0, 1}) {
            x.dim(d).set_min(0);
            out.dim(d).set_min(0);
        }
        Stages stages = algorithm(x, get_target(), out);
        schedule_cpu(stages, natural_vector_size<float>());
        map_half_vectors(*this);
        publish_facts(*this, facts, {});
    }
};

} // namespace gyre::features

HALIDE_REGISTER_GENERATOR(gyre::features::FeaturesGenerator, features)
