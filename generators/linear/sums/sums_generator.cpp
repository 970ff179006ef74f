// Binds signature, algorithm and schedule of running sums. No arithmetic and no loop order here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "sums_schedules.h"

namespace gyre::sums {

class SumsGenerator : public Halide::Generator<SumsGenerator> {
public:
    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    DeclaredArguments arguments;
#include "sums_arguments.inc"

    void configure() { arguments.declare(*this); }

    void generate() {
        for (int d : {0, 1}) {
            x.dim(d).set_min(0);
            before.dim(d).set_min(0);
            out.dim(d).set_min(0);
        }
        weight.dim(0).set_min(0).set_stride(Halide::Expr()); // any: rows may be walked against their order
        Stages stages = algorithm({x, weight, before, out.dim(1).extent()}, out);
        schedule_cpu(stages, natural_vector_size<float>());
        publish_facts(*this, facts, {});
    }
};

} // namespace gyre::sums

HALIDE_REGISTER_GENERATOR(gyre::sums::SumsGenerator, sums)
