// Binds signature, algorithm and schedule of products of rows. No arithmetic and no loop order here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "../../passes/instructions/half_vectors.h"
#include "norms_schedules.h"

namespace gyre::norms {

class NormsGenerator : public Halide::Generator<NormsGenerator> {
public:
    // Variant: spelled in the kernel's name.
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::Float(32)};

    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    DeclaredArguments arguments;
#include "norms_arguments.inc"

    void configure() { arguments.declare(*this, {}, {{"dtype", dtype}}); }

    void generate() {
        const int lanes = natural_vector_size<float>();
        for (auto *rows : {&a, &b, &x})
            for (int d : {0, 1}) rows->dim(d).set_min(0);
        product.dim(0).set_min(0);
        out.dim(0).set_min(0);
        out.dim(1).set_bounds(0, product.dim(0).extent());
        Stages stages = algorithm({a, b, x, a.dim(0).extent()}, lanes, product, out, dtype);
        schedule_cpu(stages, lanes);
        map_half_vectors(*this);
        publish_facts(*this, facts, {});
    }
};

} // namespace gyre::norms

HALIDE_REGISTER_GENERATOR(gyre::norms::NormsGenerator, norms)
