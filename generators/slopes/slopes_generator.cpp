// Binds signature, algorithm and schedule of the gradients of linear attention's features. No arithmetic and no loop order
// here.
#include "../common/facts.h"
#include "../common/half_vectors.h"
#include "slopes_schedules.h"

namespace gyre::slopes {

class SlopesGenerator : public Halide::Generator<SlopesGenerator> {
public:
    // Variant: spelled in the kernel's name.
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::Float(32)};

    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    Input<Halide::Buffer<void, 2>> x{"x"};                            // (d, i)
    Input<Halide::Buffer<float, 2>> product{"product"}, sums{"sums"}; // (d, i)
    Input<Halide::Buffer<float, 1>> weight{"weight"};                 // (i)
    Output<Halide::Buffer<void, 2>> out{"out"};                       // (d, i)

    void configure() {
        x.set_type(dtype);
        out.set_type(dtype);
    }

    void generate() {
        for (int d : {0, 1}) {
            x.dim(d).set_min(0), out.dim(d).set_min(0);
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
