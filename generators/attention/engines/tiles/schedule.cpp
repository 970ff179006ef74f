#include "tiles.h"

#include "attention/variants/dropout/kept.h"
#include "attention/variants/general/scores.h"
#include "attention/variants/score/stage.h"
#include "passes/instructions/tile_products.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;
namespace {

/// The loops of a block of tiles: rows along `rows`, columns along `columns`; all tiles unrolled.
struct TileLoops {
    Var row{tile_row_loop}, column{tile_column_loop}, rows{"tiles_down"}, columns{"tiles_across"};
    RVar depth{tile_depth_loop};

    Stage split(Stage stage, const Var &along_rows, const Var &along_columns) const {
        return stage.split(along_rows, rows, row, tile_rows, TailStrategy::RoundUp)
            .split(along_columns, columns, column, tile_columns, TailStrategy::RoundUp)
            .reorder(column, row, columns, rows)
            .unroll(columns)
            .unroll(rows);
    }
};

/// A product of weights over the keys of a block: accumulated in tiles, then stored.
void schedule_weighted(Func product, const RVar &key, const RVar &of_terms, const RVar &step, const LoopLevel &at,
                       const TileLoops &loops, const TileStages &s) {
    const Var across = product.args()[0], down = product.args()[1];
    Func stored = product.in();
    stored.compute_at(at).store_in(MemoryType::Stack).bound_storage(s.b, 1);
    loops.split(stored, down, across);
    product.compute_at(at).store_in(MemoryType::Stack).bound_storage(s.b, 1);
    loops.split(product, down, across);
    loops.split(product.update(), down, across)
        .rename(key, loops.depth)
        .reorder(loops.depth, loops.column, loops.row, loops.columns, loops.rows, of_terms, step);
}

} // namespace

/// The stages of a block, formed in the loops `task` of update `update` of the state.
void Tiles::schedule_blocks(const TaskLoops &task, int update) {
    const Sizes &z = s.sizes;
    const int w = k.lanes, tile = k.row_vectors * w;
    const int key_unroll = bounded ? std::min(k.key_unroll, tile_depth) : k.key_unroll;
    const TileLoops loops;
    Var ro("ro"), ri("ri"), ji("ji");

    s.weights.bound_storage(s.b, 1);
    provider->schedule_offsets(s, w);
    Stage recurrence = schedule_recurrence(s, k.row_vectors, task, update);
    if (facts.sum_with_values)
        recurrence.unroll(s.e).reorder(s.e, task.register_tile); // the accumulators of all chunks are registers
    if (provider->has_value_blocks())
        schedule_stored_operands();
    else
        schedule_packed_operands(w);

    // Scores, maximum and weights of one row tile and one block.
    if (bounded)
        s.masked.compute_at(facts.sum_with_values ? LoopLevel(s.weights, s.step) : LoopLevel(s.weights, s.weight_step))
            .store_in(MemoryType::Stack)
            .bound_storage(s.j, tile_depth)
            .bound_storage(s.t, 1);
    else
        s.masked.compute_at(s.state, task.tile).bound_storage(s.j, z.key_block);
    if (bounded) {
        s.masked.tile(s.r, s.j, ro, score_tile, ri, ji, tile, key_unroll, TailStrategy::RoundUp)
            .reorder(ri, ji, ro, score_tile);
        loops.split(s.masked, ji, ri);
    } else {
        RVar row(tile_row_loop), rows("tiles_down");
        s.masked.update(0)
            .split(s.r, ro, ri, tile)
            .split(ri, loops.columns, loops.column, tile_columns)
            .split(s.formed_j, rows, row, tile_rows)
            .reorder(loops.column, row, loops.columns, rows, ro, s.key_step)
            .unroll(loops.columns)
            .unroll(rows);
        s.scores.bound_extent(s.j, key_unroll); // or else the region of all steps is taken for twice as large
    }
    s.scores.compute_at(s.masked, ro).store_in(MemoryType::Stack);
    loops.split(s.scores, s.j, s.r);
    const auto schedule_product = [&](Stage product, const RVar &feature, const RVar &tile) {
        std::vector<VarOrRVar> order = {loops.depth, loops.column, loops.row, loops.columns, loops.rows, tile};
        if (!facts.in_place) order.emplace_back(s.score_product);
        loops.split(product, s.j, s.r).rename(feature, loops.depth).reorder(order);
        if (!facts.counts_features) product.unroll(tile);
    };
    schedule_product(s.scores.update(0), s.feature, s.feature_tile);
    if (facts.in_place) schedule_product(s.scores.update(1), s.copied_feature, s.copied_feature_tile);
    if (!bounded) {
        for (int update = 1; update < s.masked.num_update_definitions(); update++)
            if (update != s.general.bias_update && update != s.general.pair_update)
                s.masked.update(update).vectorize(s.r, w);
        s.block_max.compute_at(s.state, task.tile).vectorize(s.r, w).unroll(s.r);
        s.block_max.update().reorder(s.r, s.max_j).vectorize(s.r, w).unroll(s.r);
        s.powers.compute_at(s.state, task.tile).bound_storage(s.j, z.key_block).bound_storage(s.b, 1);
        s.powers.update().reorder(s.r, s.raised_key, s.raised_step).vectorize(s.r, w).unroll(s.r);
        s.block_sum.compute_at(s.state, task.tile).bound_storage(s.b, 1).vectorize(s.r, w).unroll(s.r);
        s.block_sum.update().reorder(s.r, s.sum_j, s.sum_step).vectorize(s.r, w).unroll(s.r);
    }
    if (s.general.bias_rows.defined()) schedule_general(s, {s.state, task.tile});
    if (s.score.update >= 0) schedule_score(s, {s.state, task.tile});
    if (s.dropout.kept.defined()) schedule_kept(s, {s.state, task.tile});
    // Where the accumulators of a whole head fit the tile registers, a step's weights are formed right before the
    // product that takes them, which then runs beside the forming of the next step's.
    schedule_weighted(facts.weighs_rows ? s.weighted_rows : s.weighted, s.value_j, s.value_product, s.value_step,
                      {s.state, task.register_tile}, loops, s);
    if (facts.weighs_rows) schedule_transpose(s.weighted_lanes, {s.state, task.register_tile});
    if (s.v_copied.defined())
        loops.split(s.weighted.update(1), s.d, s.r)
            .rename(s.copied_key, loops.depth)
            .reorder(loops.depth, loops.column, loops.row, loops.columns, loops.rows, s.copied_step);
    if (bounded && !facts.sum_with_values)
        schedule_weighted(s.sums, s.sum_j, s.sum_product, s.sum_step, {s.state, task.tile}, loops, s);
    if (weighs_by_step())
        s.weights.compute_at(s.weighted, s.value_step).bound_storage(s.step, 1).store_in(MemoryType::Stack);
    else
        s.weights.compute_at(s.state, task.tile).bound_storage(s.step, z.key_block / tile_depth);
    if (facts.weighs_rows) schedule_weight_rows({s.state, task.tile});
    s.weights.bound(s.p, 0, facts.terms)
        .bound(s.c, 0, tile_depth / 2)
        .bound_storage(s.c, tile_depth / 2)
        .bound_storage(s.t, 1);
    if (bounded) {
        Var wo("wo");
        const bool one_step = facts.sum_with_values;
        const VarOrRVar step = one_step ? VarOrRVar(s.step) : VarOrRVar(s.weight_step);
        const VarOrRVar edge_step = one_step ? VarOrRVar(s.step) : VarOrRVar(s.edge_step);
        (one_step ? Stage(s.weights) : s.weights.update(0))
            .split(s.r, wo, s.r, tile)
            .reorder(s.r, s.c, s.p, step, wo)
            .vectorize(s.r, w)
            .unroll(s.r)
            .unroll(s.p)
            .never_partition_all();
        s.weights.update(one_step ? 0 : 1)
            .split(s.r, wo, s.r, w)
            .reorder(s.r, s.edge_pair, wo, s.p, edge_step)
            .vectorize(s.r);
    } else {
        s.weights.reorder(s.r, s.p, s.c, s.step).vectorize(s.r, w).unroll(s.r).unroll(s.p);
    }
}

/// Weights transposed, for tiles whose rows are queries.
void Tiles::schedule_weight_rows(const LoopLevel &at) {
    Var ro("ro"), ri("ri");
    s.weight_rows.compute_at(at)
        .bound_storage(s.b, 1)
        .bound_storage(s.t, 1)
        .bound_storage(s.step, s.sizes.key_block / tile_depth)
        .bound(s.p, 0, facts.terms)
        .bound(s.c, 0, tile_depth / 2)
        .split(s.r, ro, ri, tile_rows, TailStrategy::RoundUp)
        .reorder(s.c, ri, s.p, ro, s.step)
        .vectorize(s.c)
        .unroll(ri);
    schedule_transpose(s.weight_lanes, {s.weight_rows, ro});
}

// One task owns a few row tiles of one head, as on vector units. Rows of the scores are keys and columns are queries, so
// keys are taken as they are stored, and the softmax stays a matter of whole vectors of queries. Values are transposed
// once a block and task. Each product keeps a block of tiles in registers, key_unroll or feature_chunk rows of
// row_vectors tiles.
void Tiles::schedule() {
    check();
    schedule_task(s, s.out.type().is_bfloat() ? tile_depth : k.lanes); // rounding takes two vectors at once
    constexpr int features_of_pair = 2;
    schedule_query_lanes(s, s.q_scaled, s.q_lanes, s.sizes.lanes, features_of_pair,
                         facts.terms == 1 ? tile_depth : k.lanes);
    s.q_scaled.bound_storage(s.c, s.sizes.head_dim / 2).bound(s.p, 0, facts.terms).unroll(s.p);
    if (s.cleaned.defined()) {
        schedule_cleaned();
        schedule_marks(k.lanes);
    }
    schedule_blocks(TaskLoops(), 0);
    s.state.update(s.state.num_update_definitions() - 1).reorder(s.r, s.e, s.cleared_turn, s.t).vectorize(s.r, k.lanes);
    if (!exact) return;
    schedule_bound(k.lanes);
    schedule_changes();
    exact->schedule_blocks(TaskLoops("exact_"), 1);
}

} // namespace gyre::attention
