// Binds signature, algorithm and schedule of linear attention. No arithmetic and no loop order here.
#include "../common/declared_arguments.h"
#include "../common/facts.h"
#include "linear_schedules.h"

namespace gyre::linear {

class LinearGenerator : public Halide::Generator<LinearGenerator> {
public:
    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    // Knobs: set from generators/tuning/<target>.json, never spelled in the name.
    GeneratorParam<int> vectors{"vectors", 2, 1, 8};
    GeneratorParam<int> tile{"tile", 6, 1, 32};
    GeneratorParam<int> blocks{"blocks", 16, 1, 64};
    GeneratorParam<int> lanes{"lanes", 0, 0, 64};

    DeclaredArguments arguments;
#include "linear_arguments.inc"

    // Added to: the caller clears it first.

    void configure() { arguments.declare(*this); }

    void generate() {
        Knobs knobs{vectors, tile, blocks, lanes};
        if (knobs.lanes == 0) knobs.lanes = natural_vector_size<float>();
        Sizes sizes;
        sizes.tile = tile;
        sizes.key_lanes = sizes.features = knobs.vectors * knobs.lanes;
        sizes.rows = knobs.tile * knobs.blocks;
        _halide_user_assert(sizes.rows % sizes.key_lanes == 0)
            << "tile * blocks is " << sizes.rows << ", expected a multiple of vectors * lanes, " << sizes.key_lanes
            << "\n";

        const Halide::Expr depth = q.dim(0).extent();
        for (auto *rows : {&q, &v, &state})
            for (int d : {0, 1}) rows->dim(d).set_min(0);
        k_panels.dim(0).set_bounds(0, sizes.key_lanes);
        k_panels.dim(1).set_bounds(0, depth).set_stride(sizes.key_lanes);
        k_panels.dim(2).set_min(0).set_stride(depth * sizes.key_lanes);
        out.dim(0).set_bounds(0, out.dim(0).extent() / sizes.features * sizes.features);
        out.dim(1).set_bounds(0, sizes.tile);
        out.dim(2).set_min(0);
        Stages stages = algorithm({q, k_panels, v, state, depth, causal != 0, stateful != 0}, sizes, out);
        schedule_cpu(stages, knobs);
        publish_facts(*this, facts,
                      {{"rows", sizes.rows},
                       {"tile_size", sizes.tile},
                       {"key_lanes", sizes.key_lanes},
                       {"features", sizes.features}});
    }
};

} // namespace gyre::linear

HALIDE_REGISTER_GENERATOR(gyre::linear::LinearGenerator, linear)
