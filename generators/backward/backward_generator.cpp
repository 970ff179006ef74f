// Binds signature, algorithm and schedule of attention's gradients. No arithmetic and no loop order here.
#include "../common/facts.h"
#include "../common/storage.h"
#include "backward_schedules.h"

#include <optional>

namespace gyre::backward {

class BackwardGenerator : public Halide::Generator<BackwardGenerator> {
public:
    // Variant: spelled in the kernel's name.
    GeneratorParam<bool> capped{"capped", false};
    GeneratorParam<bool> general{"general", false}; // capped or not, with bias and dropout

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

    void configure() {
        if (!general) return;
        // An absent bias is one element repeated by strides of 0. 16-bit biases arrive as their bits.
        bias_kind = add_input<int32_t>("bias_kind");                              // 0: none, 1: f32, 2: f16, 3: bf16
        bias_f32 = add_input<Halide::Buffer<>>("bias_f32", Halide::Float(32), 2); // (j, i)
        bias_16 = add_input<Halide::Buffer<>>("bias_16", Halide::UInt(16), 2);    // (j, i)
        key_sums = add_input<int32_t>("key_sums"), row_sums = add_input<int32_t>("row_sums");
        dropout.emplace(*this);
        bias_grad = add_output<Halide::Buffer<>>("bias_grad", Halide::Float(32), 2); // (j, i)
    }

    void generate() {
        Knobs knobs{vectors, tile, blocks, lanes};
        if (knobs.lanes == 0) knobs.lanes = natural_vector_size<float>();
        Sizes sizes;
        sizes.tile = tile;
        sizes.key_lanes = sizes.features = knobs.vectors * knobs.lanes;
        sizes.rows = sizes.keys = knobs.tile * knobs.blocks;
        sizes.capped = capped;
        sizes.general = general;
        _halide_user_assert(sizes.keys % sizes.key_lanes == 0)
            << "tile * blocks is " << sizes.keys << ", expected a multiple of vectors * lanes, " << sizes.key_lanes
            << "\n";

        const Halide::Expr features = feature_tiles * sizes.features;
        Inputs in{q,    out_grad, k,     k_panels,      v_panels,     lse,   delta,        rows,
                  keys, features, scale, first_visible, last_visible, alibi, alibi_origin, softcap};
        if (general) bind_general(in);
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
        Stages stages = algorithm(in, sizes, dq, dk, dv, general ? Halide::Func(*bias_grad) : Halide::Func());
        schedule_cpu(stages, in, knobs);
        if (general) specialize_bias(stages);
        publish_facts(*this, facts,
                      {{"rows", sizes.rows},
                       {"keys", sizes.keys},
                       {"tile_size", sizes.tile},
                       {"key_lanes", sizes.key_lanes},
                       {"features", sizes.features}});
    }

private:
    Input<int32_t> *bias_kind = nullptr, *key_sums = nullptr, *row_sums = nullptr;
    Input<Halide::Buffer<>> *bias_f32 = nullptr, *bias_16 = nullptr;
    Output<Halide::Buffer<>> *bias_grad = nullptr;
    std::optional<DropoutInputs> dropout;

    void bind_general(Inputs &in) {
        for (auto *tensor : {bias_f32, bias_16}) {
            tensor->dim(0).set_min(0).set_stride(Halide::Expr());
            tensor->dim(1).set_min(0);
        }
        for (int d : {0, 1}) bias_grad->dim(d).set_min(0);
        Halide::Var j("j"), i("i");
        in.bias = Halide::Func("bias");
        in.bias(j, i) = element_of_kind(*bias_kind, (*bias_f32)(j, i), (*bias_16)(j, i));
        in.bias_masks = Halide::Func("bias_masks");
        in.bias_masks(j, i) = is_minus_infinity_of_kind(*bias_kind, (*bias_f32)(j, i), (*bias_16)(j, i));
        in.has_bias = *bias_kind != 0;
        in.key_sums = *key_sums, in.row_sums = *row_sums;
        in.dropout = dropout->bound();
    }

    /// One loop for each way in which a bias usually comes: dense rows of one type.
    void specialize_bias(Stages &stages) {
        stages.biases.update().specialize(*bias_kind == 1 && bias_f32->dim(0).stride() == 1);
        stages.biases.update().specialize(*bias_kind == 2 && bias_16->dim(0).stride() == 1);
        stages.biases.update().specialize(*bias_kind == 3 && bias_16->dim(0).stride() == 1);
    }
};

} // namespace gyre::backward

HALIDE_REGISTER_GENERATOR(gyre::backward::BackwardGenerator, backward)
