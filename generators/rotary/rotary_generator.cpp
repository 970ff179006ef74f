// Binds signature, algorithm and schedule of the rotary embedding. No arithmetic and no loop order here.
#include "../common/facts.h"
#include "rotary_schedules.h"

namespace gyre::rotary {

class RotaryGenerator : public Halide::Generator<RotaryGenerator> {
public:
    // Variant: spelled in the kernel's name.
    GeneratorParam<Pairing> pairing{
        "pairing", Pairing::half, {{"half", Pairing::half}, {"interleaved", Pairing::interleaved}}};
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::Float(32)};

    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    // Knobs: set from generators/tuning/<target>.json, never spelled in the name.
    GeneratorParam<int> lanes{"lanes", 0, 0, 64};

    Input<Halide::Buffer<float, 3>> cos{"cos"}, sin{"sin"}; // (i, a, b)
    Input<int32_t> offset{"offset"}, pairs{"pairs"};
    Input<float> direction{"direction"};
    Input<int32_t> copied_before{"copied_before"}, after{"after"}, copied_after{"copied_after"};
    Output<Halide::Buffer<void, 3>> out{"out"}; // (d, a, b)

    void configure() {
        x = add_input<Halide::Buffer<>>("x", dtype, 3); // (d, a, b)
        out.set_type(dtype);
    }

    void generate() {
        Knobs knobs{lanes};
        if (knobs.lanes == 0) knobs.lanes = natural_vector_size<float>();
        Stages stages = algorithm({*x, cos, sin, offset, pairs, direction, copied_before, after, copied_after}, pairing,
                                  out, dtype);
        schedule_cpu(stages, pairs, knobs);
        publish_facts(*this, facts, {});
    }

private:
    Input<Halide::Buffer<>> *x = nullptr;
};

} // namespace gyre::rotary

HALIDE_REGISTER_GENERATOR(gyre::rotary::RotaryGenerator, rotary)
