#include "attention/recurrence/task_schedule.h"
#include "attention/variants/dropout/kept_along_keys.h"
#include "attention/variants/general/scores.h"
#include "key_lanes.h"

namespace gyre::attention {
using namespace Halide;

// One task owns all rows that share keys. All of them take a step of keys, later a group of values, before the next one: the
// first row reads it from memory, one key after the other, and the others from L1. So a block may be larger than L1.
void KeyLanes::schedule() {
    check();
    schedule_rows();
    schedule_state();
    provider->schedule_offsets(s, k.lanes);
    schedule_guard(s, k.lanes);
    if (s.operands.key_heads.defined()) s.operands.key_heads.compute_root().bound_storage(s.t, s.sizes.task_tiles);
    schedule_scores();
    schedule_weights();
    if (s.dropout.kept.defined()) schedule_kept_along_keys(s, {s.state, s.block}, k.lanes);
    schedule_values();
    schedule_results();
    if (s.general.bias_rows.defined()) schedule_general_along_keys(s, {s.masked, s.t}, k.lanes);
}

void KeyLanes::schedule_rows() {
    const Sizes &z = s.sizes;
    for (Func *of_row : {&s.row_tokens, &s.row_heads})
        if (of_row->defined()) of_row->compute_root().bound_storage(s.t, z.task_tiles).bound(s.r, 0, z.row_tile);
    s.q_rows.compute_root().bound_storage(s.t, z.task_tiles).bound(s.d, 0, z.head_dim).bound(s.r, 0, z.row_tile);
    schedule_rotated_rows(s.q_rows, s.q_rotated, k.lanes, z.row_ends);
    if (s.q_placed.defined())
        s.q_placed.compute_root()
            .bound_storage(s.t, z.task_tiles)
            .bound(s.d, 0, z.head_dim)
            .bound(s.r, 0, z.row_tile)
            .vectorize(s.d, k.lanes)
            .unroll(s.d);
}

void KeyLanes::schedule_state() {
    const Sizes &z = s.sizes;
    const TaskLoops loops;
    s.state.compute_root()
        .bound_storage(s.t, z.task_tiles)
        .bound(s.e, 0, s.feature_groups * k.lanes)
        .bound_storage(s.e, z.v_head_dim / z.feature_chunk)
        .bound(s.r, 0, z.row_tile)
        .reorder_storage(s.e, s.r, s.t)
        .reorder(s.e, s.r, s.t)
        .vectorize(s.e, k.lanes);
    s.state.update()
        .rename(s.t, loops.tile)
        .reorder(s.e, s.r, loops.tile, s.block)
        .vectorize(s.e, k.lanes)
        .never_partition_all();
}

// Scores of a vector of keys, row by row.
void KeyLanes::schedule_scores() {
    const Sizes &z = s.sizes;
    for (Func *of_keys : {&s.masked, &s.weights})
        of_keys->compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(s.t, z.task_tiles)
            .bound_storage(s.j, z.key_block)
            .bound(s.r, 0, z.row_tile)
            .reorder_storage(s.j, s.r, s.t, s.b);
    Stage formed = s.masked.update(0);
    formed.allow_race_conditions().reorder(s.formed_j, s.r, s.t, s.key_step).never_partition_all();
    if (spreads())
        schedule_spread_keys(formed);
    else
        formed.vectorize(s.formed_j);
    if (facts.transposes_keys)
        schedule_transposed_scores();
    else
        schedule_scores_across_lanes();
    s.masked.update(s.masked.num_update_definitions() - 1).allow_race_conditions().vectorize(s.mask_j);
}

// The maximum of a block's scores, their weights, and the sum of these.
void KeyLanes::schedule_weights() {
    const Sizes &z = s.sizes;
    for (Func *of_row : {&s.block_max, &s.block_sum})
        of_row->compute_at(s.state, s.block).bound_storage(s.b, 1).bound_storage(s.t, z.task_tiles);
    s.lane_max.compute_at(s.block_max, s.t);
    s.lane_sum.compute_at(s.block_sum, s.t);
    for (auto [by_lane, step] : {std::pair{&s.lane_max, s.max_j}, {&s.lane_sum, s.sum_j}}) {
        by_lane->bound_storage(s.b, 1).bound(s.l, 0, k.lanes).vectorize(s.l);
        by_lane->update().reorder(s.l, step, s.r).vectorize(s.l);
    }
    if (s.hidden.defined()) {
        s.hidden.compute_at(s.state, s.block).bound_storage(s.b, 1);
        s.row_hidden.compute_at(s.hidden, s.hidden_tile).bound_storage(s.b, 1); // only where there is a bias or a mask
        s.lane_hidden.compute_at(s.hidden, s.hidden_tile).bound_storage(s.b, 1).bound(s.l, 0, k.lanes).vectorize(s.l);
        s.lane_hidden.update().reorder(s.l, s.hidden_j, s.r).vectorize(s.l);
    }
    s.weights.update()
        .allow_race_conditions()
        .reorder(s.weight_j, s.r, s.weight_step)
        .vectorize(s.weight_j)
        .never_partition_all();
}

void KeyLanes::schedule_results() {
    const Sizes &z = s.sizes;
    for (Func *whole_task : {&s.inverse_sum, &s.row_lse, &s.out_copy})
        whole_task->compute_root().bound_storage(s.t, z.task_tiles);
    s.lse.compute_root();
    if (facts.in_columns) {
        s.lse.vectorize(s.i, k.lanes, TailStrategy::GuardWithIf);
        s.state.update(s.state.num_update_definitions() - 1).vectorize(s.e, k.lanes).never_partition_all();
    }
    Var d_o("do"), di("di"), lane("lane"), which("which");
    const int together = vectors_together();
    s.out_copy.bound(s.d, 0, s.feature_groups * (k.lanes * z.feature_chunk))
        .bound_storage(s.d, z.v_head_dim)
        .split(s.d, d_o, di, k.lanes * z.feature_chunk)
        .split(di, di, lane, k.lanes * together)
        .split(lane, lane, which, together)
        .reorder(which, lane, di, d_o, s.r)
        .vectorize(lane)
        .unroll(which)
        .unroll(di);
    s.out.compute_root();
    schedule_rotated_rows(s.out, s.out_rotated, k.lanes, z.row_ends);
}

} // namespace gyre::attention
