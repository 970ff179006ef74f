#include "block_loops.h"
#include "tiles.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;

/// The scores of one row tile and one block.
void Tiles::schedule_scores(const LoopLevel &at) {
    const int tile = k.row_vectors * k.lanes;
    const int key_unroll = bounded ? std::min(k.key_unroll, tile_depth) : k.key_unroll;
    const BlockLoops loops;
    Var ro("ro"), ri("ri"), ji("ji");
    if (bounded) {
        s.masked.compute_at(facts.sum_with_values ? LoopLevel(s.weights, s.step) : LoopLevel(s.weights, s.weight_step))
            .store_in(MemoryType::Stack)
            .bound_storage(s.j, tile_depth)
            .bound_storage(s.t, 1)
            .tile(s.r, s.j, ro, score_tile, ri, ji, tile, key_unroll, TailStrategy::RoundUp)
            .reorder(ri, ji, ro, score_tile);
        loops.split(s.masked, ji, ri);
    } else {
        RVar row(tile_row_loop), rows("tiles_down");
        s.masked.compute_at(at).bound_storage(s.j, s.sizes.key_block);
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
    const auto schedule_product = [&](Stage product, const RVar &feature, const RVar &tiles) {
        std::vector<VarOrRVar> order = {loops.depth, loops.column, loops.row, loops.columns, loops.rows, tiles};
        if (!facts.in_place) order.emplace_back(s.score_product);
        loops.split(product, s.j, s.r).rename(feature, loops.depth).reorder(order);
        if (!facts.counts_features) product.unroll(tiles);
    };
    schedule_product(s.scores.update(0), s.feature, s.feature_tile);
    if (facts.in_place) schedule_product(s.scores.update(1), s.copied_feature, s.copied_feature_tile);
}

/// Where scores are not bounded: what is hidden, their maximum, the powers, and the sum of these.
void Tiles::schedule_powers(const LoopLevel &at) {
    const int w = k.lanes;
    for (int update = 1; update < s.masked.num_update_definitions(); update++)
        if (update != s.general.bias_update && update != s.general.pair_update)
            s.masked.update(update).vectorize(s.r, w);
    s.block_max.compute_at(at).vectorize(s.r, w).unroll(s.r);
    s.block_max.update().reorder(s.r, s.max_j).vectorize(s.r, w).unroll(s.r);
    s.powers.compute_at(at).bound_storage(s.j, s.sizes.key_block).bound_storage(s.b, 1);
    s.powers.update().reorder(s.r, s.raised_key, s.raised_step).vectorize(s.r, w).unroll(s.r);
    s.block_sum.compute_at(at).bound_storage(s.b, 1).vectorize(s.r, w).unroll(s.r);
    s.block_sum.update().reorder(s.r, s.sum_j, s.sum_step).vectorize(s.r, w).unroll(s.r);
}

} // namespace gyre::attention
