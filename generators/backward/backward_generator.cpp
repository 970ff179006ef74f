// Binds signature, algorithm and schedule of attention's gradients. No arithmetic and no loop order here.
#include "../common/facts.h"
#include "backward_schedules.h"

namespace gyre::backward {

class BackwardGenerator : public Halide::Generator<BackwardGenerator> {
public:
    // Variant: spelled in the kernel's name.
    GeneratorParam<bool> capped{"capped", false};

    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    // Knobs: set from generators/tuning/<target>.json, never spelled in the name.
    GeneratorParam<int> vectors{"vectors", 2, 1, 8};
    GeneratorParam<int> tile{"tile", 6, 1, 32};
    GeneratorParam<int> blocks{"blocks", 16, 1, 64};
    GeneratorParam<int> lanes{"lanes", 0, 0, 64};

    Input<Halide::Buffer<float, 3>> q{"q"}, out_grad{"out_grad"};               // (d, y, t)
    Input<Halide::Buffer<float, 3>> k{"k"};                                     // (d, x, u)
    Input<Halide::Buffer<float, 3>> k_panels{"k_panels"}, v_panels{"v_panels"}; // (l, d, p)
    Input<Halide::Buffer<float, 2>> lse{"lse"}, delta{"delta"};                 // (y, t)
    Input<int32_t> rows{"rows"}, keys{"keys"}, feature_tiles{"feature_tiles"};
    Input<float> scale{"scale"};
    Input<int32_t> first_visible{"first_visible"}, last_visible{"last_visible"};
    Input<float> alibi{"alibi"};
    Input<int32_t> alibi_origin{"alibi_origin"};
    Input<float> softcap{"softcap"};

    // Added to: the caller clears them first.
    Output<Halide::Buffer<float, 3>> dq{"dq"};           // (d, y, t)
    Output<Halide::Buffer<float, 3>> dk{"dk"}, dv{"dv"}; // (d, x, u)

    void generate() {
        Knobs knobs{vectors, tile, blocks, lanes};
        if (knobs.lanes == 0) knobs.lanes = natural_vector_size<float>();
        Sizes sizes;
        sizes.tile = tile;
        sizes.key_lanes = sizes.features = knobs.vectors * knobs.lanes;
        sizes.rows = sizes.keys = knobs.tile * knobs.blocks;
        sizes.capped = capped;
        _halide_user_assert(sizes.keys % sizes.key_lanes == 0)
            << "tile * blocks is " << sizes.keys << ", expected a multiple of vectors * lanes, " << sizes.key_lanes
            << "\n";

        const Halide::Expr features = feature_tiles * sizes.features;
        Inputs in{q,    out_grad, k,     k_panels,      v_panels,     lse,   delta,        rows,
                  keys, features, scale, first_visible, last_visible, alibi, alibi_origin, softcap};
        const int row_tiles = sizes.rows / sizes.tile, key_tiles = sizes.keys / sizes.tile,
                  panels = sizes.keys / sizes.key_lanes;
        const auto bound = [&](auto &tensor, int tiles) {
            tensor.dim(0).set_bounds(0, features);
            tensor.dim(1).set_bounds(0, sizes.tile);
            tensor.dim(2).set_bounds(0, tiles);
            tensor.dim(2).set_stride(tensor.dim(1).stride() * sizes.tile);
        };
        for (auto *tensor : {&q, &out_grad}) bound(*tensor, row_tiles);
        for (auto *tensor : {&dk, &dv}) bound(*tensor, key_tiles);
        bound(k, key_tiles), bound(dq, row_tiles);
        for (auto *buffer : {&k_panels, &v_panels}) {
            buffer->dim(0).set_bounds(0, sizes.key_lanes);
            buffer->dim(1).set_bounds(0, features).set_stride(sizes.key_lanes);
            buffer->dim(2).set_bounds(0, panels).set_stride(features * sizes.key_lanes);
        }
        for (auto *statistic : {&lse, &delta}) {
            statistic->dim(0).set_bounds(0, sizes.tile);
            statistic->dim(1).set_bounds(0, row_tiles).set_stride(sizes.tile);
        }
        Stages stages = algorithm(in, sizes, dq, dk, dv);
        schedule_cpu(stages, knobs);
        publish_facts(*this, facts,
                      {{"rows", sizes.rows},
                       {"keys", sizes.keys},
                       {"tile_size", sizes.tile},
                       {"key_lanes", sizes.key_lanes},
                       {"features", sizes.features}});
    }
};

} // namespace gyre::backward

HALIDE_REGISTER_GENERATOR(gyre::backward::BackwardGenerator, backward)
