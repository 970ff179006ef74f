#include "attention/variants/dropout/kept.h"
#include "attention/variants/general/scores.h"
#include "attention/variants/score/stage.h"
#include "passes/instructions/tile_products.h"
#include "tiles.h"

namespace gyre::attention {
using namespace Halide;

/// The stages of a block, formed in the loops `task` of update `update` of the state.
void Tiles::schedule_blocks(const TaskLoops &task, int update) {
    provider->schedule_offsets(s, k.lanes);
    Stage recurrence = schedule_recurrence(s, k.row_vectors, task, update);
    if (facts.sum_with_values)
        recurrence.unroll(s.e).reorder(s.e, task.register_tile); // the accumulators of all chunks are registers
    if (provider->has_value_blocks())
        schedule_stored_operands();
    else
        schedule_packed_operands(k.lanes);
    const LoopLevel row_tile(s.state, task.tile);
    schedule_scores(row_tile);
    if (!bounded) schedule_powers(row_tile);
    if (s.general.bias_rows.defined()) schedule_general(s, row_tile);
    if (s.score.update >= 0) schedule_score(s, row_tile);
    if (s.dropout.kept.defined()) schedule_kept(s, row_tile);
    schedule_weighted_values(task);
    schedule_weights(row_tile);
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
