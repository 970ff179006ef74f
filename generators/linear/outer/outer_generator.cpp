// Binds signature, algorithm and schedule of linear attention's state. No arithmetic and no loop order here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "outer_schedules.h"

namespace gyre::outer {

class OuterGenerator : public Halide::Generator<OuterGenerator> {
public:
    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    // Knobs: set from generators/tuning/<target>.json, never spelled in the name.
    GeneratorParam<int> vectors{"vectors", 2, 1, 8};
    GeneratorParam<int> tile{"tile", 4, 1, 32};
    GeneratorParam<int> lanes{"lanes", 0, 0, 64};

    DeclaredArguments arguments;
#include "outer_arguments.inc"

    void configure() { arguments.declare(*this); }

    void generate() {
        Knobs knobs{vectors, tile, lanes};
        if (knobs.lanes == 0) knobs.lanes = natural_vector_size<float>();
        Sizes sizes;
        sizes.tile = tile;
        sizes.features = knobs.vectors * knobs.lanes;
        for (auto *rows : {&k, &v})
            for (int d : {0, 1}) rows->dim(d).set_min(0);
        state.dim(0).set_bounds(0, state.dim(0).extent() / sizes.features * sizes.features);
        state.dim(1).set_bounds(0, state.dim(1).extent() / sizes.tile * sizes.tile);
        Stages stages = algorithm({k, v, k.dim(1).extent()}, sizes, state);
        schedule_cpu(stages, knobs);
        publish_facts(*this, facts, {{"tile_size", sizes.tile}, {"features", sizes.features}});
    }
};

} // namespace gyre::outer

HALIDE_REGISTER_GENERATOR(gyre::outer::OuterGenerator, outer)
