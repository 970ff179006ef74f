#include "block_loops.h"
#include "tiles.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// A product of weights over the keys of a block: accumulated in tiles, then stored.
void schedule_weighted(Func product, const RVar &key, const RVar &of_terms, const RVar &step, const LoopLevel &at,
                       const BlockLoops &loops, const TileStages &s) {
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

/// Weights as operands of products.
void Tiles::schedule_weights(const LoopLevel &at) {
    const int w = k.lanes, tile = k.row_vectors * w;
    s.weights.bound_storage(s.b, 1);
    if (weighs_by_step())
        s.weights.compute_at(s.weighted, s.value_step).bound_storage(s.step, 1).store_in(MemoryType::Stack);
    else
        s.weights.compute_at(at).bound_storage(s.step, s.sizes.key_block / tile_depth);
    if (facts.weighs_rows) schedule_weight_rows(at);
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

/// The products of weights and values, for a register tile of features, and the sums of weights.
void Tiles::schedule_weighted_values(const TaskLoops &task) {
    const BlockLoops loops;
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
}

} // namespace gyre::attention
