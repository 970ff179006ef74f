// Binds signature, algorithm and schedule of attention's gradients. No arithmetic and no loop order here.
#include "../common/declared_arguments.h"
#include "../math/storage.h"
#include "../passes/instructions/aligned_branches.h"
#include "../passes/instructions/bf16_dot.h"
#include "../passes/instructions/bf16_roundings.h"
#include "backward_schedules.h"
#include "backward_sizes.h"
#include "pairs/schedule.h"

namespace gyre::backward {

class BackwardGenerator : public Halide::Generator<BackwardGenerator> {
public:
    // Variant: spelled in the kernel's name.
    GeneratorParam<bool> capped{"capped", false};
    GeneratorParam<bool> general{"general", false}; // capped or not, with bias and dropout
    GeneratorParam<bool> totals{"totals", false};   // no gradients, but what the weights of each row come to
    GeneratorParam<bool> pairs{"pairs", false};     // multiplies pairs of bf16 numbers

    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    // Knobs: set from generators/tuning/<target>.json, never spelled in the name.
    GeneratorParam<int> vectors{"vectors", 2, 1, 8};
    GeneratorParam<int> tile{"tile", 6, 1, 32};
    GeneratorParam<int> blocks{"blocks", 16, 1, 64};
    GeneratorParam<int> lanes{"lanes", 0, 0, 64};

    DeclaredArguments arguments;
#include "backward_arguments.inc"

    void configure() { arguments.declare(*this, {{"general", general}, {"gradients", !totals}, {"totals", totals}}); }

    void generate() {
        const Knobs knobs{vectors, tile, blocks, lanes > 0 ? static_cast<int>(lanes) : natural_vector_size<float>()};
        Sizes sizes;
        sizes.tile = tile;
        sizes.key_lanes = sizes.features = knobs.vectors * knobs.lanes;
        sizes.rows = sizes.keys = knobs.tile * knobs.blocks;
        sizes.capped = capped;
        sizes.general = general;
        fit_target(target, knobs.lanes, &sizes);
        if (sizes.of_avx2()) align_branches();
        _halide_user_assert(sizes.keys % sizes.key_lanes == 0)
            << "tile * blocks is " << sizes.keys << ", expected a multiple of vectors * lanes, " << sizes.key_lanes
            << "\n";

        const Halide::Expr features = feature_tiles * sizes.features;
        Inputs in;
        in.q = q;
        in.k_panels = k_panels;
        in.lse = lse;
        in.rows = rows;
        in.keys = keys;
        in.features = features;
        in.k_features = Halide::unsafe_promise_clamped(head_dim, 1, features);
        in.scale = scale;
        in.first_visible = first_visible;
        in.last_visible = last_visible;
        in.alibi = alibi;
        in.alibi_origin = alibi_origin;
        bind_shapes(sizes, features);
        if (totals) {
            Stages stages = totals_algorithm(in, sizes, row_totals);
            schedule_totals_cpu(stages, knobs);
        } else {
            in.out_grad = out_grad;
            in.v_features = Halide::unsafe_promise_clamped(v_head_dim, 1, features);
            in.k = k;
            in.v_panels = v_panels;
            in.delta = delta;
            in.softcap = softcap;
            if (general) bind_general(in);
            compute(in, sizes, knobs);
        }
        publish_facts(*this, facts, facts_of(sizes, !totals, pairs));
    }

private:
    void compute(const Inputs &in, const Sizes &sizes, const Knobs &knobs) {
        const Halide::Func of_bias = general ? Halide::Func(bias_grad) : Halide::Func();
        if (!pairs) {
            Stages stages = algorithm(in, sizes, dq, dk, dv, of_bias);
            schedule_cpu(stages, in, knobs);
            if (general) specialize_bias(stages);
            return;
        }
        PairStages stages = algorithm_of_pairs(in, sizes, knobs.lanes, dq, dk, dv, of_bias);
        schedule_of_pairs(stages, in, knobs);
        if (general) specialize_bias(stages);
        map_bf16_dots(*this);
        map_bf16_roundings(*this);
    }

    void bind_shapes(const Sizes &sizes, const Halide::Expr &features) {
        const int row_tiles = sizes.rows / sizes.tile, key_tiles = sizes.keys / sizes.tile,
                  panels = sizes.keys / sizes.key_lanes;
        // Sums of pairs are formed of so many tiles as the caller has.
        const auto rows_of = [&](auto &tensor, int tiles, bool all = true) {
            if (!tensor) return;
            tensor.dim(0).set_bounds(0, features);
            tensor.dim(1).set_bounds(0, sizes.tile);
            tensor.dim(2).set_min(0).set_stride(tensor.dim(1).stride() * sizes.tile);
            if (all) tensor.dim(2).set_extent(tiles);
        };
        const auto numbers = [&](auto &statistic) {
            if (!statistic) return;
            statistic.dim(0).set_bounds(0, sizes.tile);
            statistic.dim(1).set_bounds(0, row_tiles).set_stride(sizes.tile);
        };
        for (auto *tensor : {&q, &out_grad}) rows_of(*tensor, row_tiles);
        for (auto *tensor : {&dk, &dv}) rows_of(*tensor, key_tiles, !pairs);
        rows_of(k, key_tiles);
        rows_of(dq, row_tiles, !pairs);
        for (auto *buffer : {&k_panels, &v_panels}) {
            if (!*buffer) continue;
            buffer->dim(0).set_bounds(0, sizes.key_lanes);
            buffer->dim(1).set_bounds(0, features).set_stride(sizes.key_lanes);
            buffer->dim(2).set_bounds(0, panels).set_stride(features * sizes.key_lanes);
        }
        for (auto *statistic : {&lse, &delta}) numbers(*statistic);
        numbers(row_totals);
    }

    void bind_general(Inputs &in) {
        for (auto *tensor : {&bias_f32, &bias_16}) {
            tensor->dim(0).set_min(0).set_stride(Halide::Expr());
            tensor->dim(1).set_min(0);
        }
        for (int d : {0, 1}) bias_grad.dim(d).set_min(0);
        Halide::Var j("j"), i("i");
        in.bias = Halide::Func("bias");
        in.bias(j, i) = element_of_kind(bias_kind, bias_f32(j, i), bias_16(j, i));
        in.bias_masks = Halide::Func("bias_masks");
        in.bias_masks(j, i) = is_minus_infinity_of_kind(bias_kind, bias_f32(j, i), bias_16(j, i));
        in.has_bias = bias_kind != 0;
        in.key_sums = key_sums;
        in.row_sums = row_sums;
        in.dropout = {dropout_threshold, dropout_keep_scale, dropout_seed_low,  dropout_seed_high,
                      dropout_offset,    dropout_head,       dropout_first_row, dropout_first_key};
    }

    /// One loop for each way in which a bias usually comes: dense rows of one type.
    void specialize_bias(Stages &stages) {
        stages.biases.update().specialize(bias_kind == 1 && bias_f32.dim(0).stride() == 1);
        stages.biases.update().specialize(bias_kind == 2 && bias_16.dim(0).stride() == 1);
        stages.biases.update().specialize(bias_kind == 3 && bias_16.dim(0).stride() == 1);
    }
};

} // namespace gyre::backward

HALIDE_REGISTER_GENERATOR(gyre::backward::BackwardGenerator, backward)
