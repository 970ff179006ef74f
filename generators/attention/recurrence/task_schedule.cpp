#include "task_schedule.h"

#include "features.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;
namespace {

/// True if a row of the call is a known number of vectors, and few, so that no loop copies it.
bool is_few_vectors(const Sizes &z, int features) {
    constexpr int most = 8;
    return !z.padded && features % z.lanes == 0 && features / z.lanes <= most;
}

/// The state's last values, normalised, transposed back to rows and rotated back.
void schedule_results(Stages &s, int w, int stored_lanes) {
    Var ro("ro"), ri("ri"), d_o("do"), di("di"), dc("dc");
    s.lse.compute_root().vectorize(s.i, w, TailStrategy::GuardWithIf);
    // Whole vectors: in a loop's tail the same sums may be rounded otherwise.
    s.inverse_sum.vectorize(s.r, w);
    s.row_lse.vectorize(s.r, w);
    const int chunk_vectors = (s.sizes.feature_chunk + w - 1) / w;
    s.out_copy.tile(s.d, s.r, d_o, ro, di, ri, w, w, TailStrategy::RoundUp)
        .split(d_o, d_o, dc, chunk_vectors, TailStrategy::RoundUp)
        .reorder(di, ri, dc, d_o, ro)
        .vectorize(di)
        .unroll(ri)
        .unroll(dc);
    schedule_transpose(s.out_rows, {s.out_copy, dc});
    // Else the lanes of a vector of the first round are of several accumulators, which Halide takes one by one.
    if (s.out_rows.in_lane_rounds)
        s.normalised.compute_at(s.out_copy, dc).bound_extent(s.d, w).bound_extent(s.r, w).vectorize(s.r).unroll(s.d);
    s.out.compute_root();
    if (is_few_vectors(s.sizes, s.sizes.v_head_dim))
        schedule_rotated_rows(s.out, s.out_rotated, stored_lanes, stored_lanes);
    else
        schedule_rotated_rows(s.out, s.out_rotated, w, s.sizes.row_ends);
}

} // namespace

void schedule_query_lanes(Stages &s, Func prepared, Transpose &lanes_of_rows, int columns, int features,
                          int row_lanes) {
    const int w = s.sizes.lanes;
    prepared.compute_root().bound_storage(s.t, s.sizes.task_tiles);
    Var ro("ro"), ri("ri"), d_o("do"), di("di");
    const Var column = prepared.args()[1];
    if (counts_features(s))
        prepared.bound(column, 0, s.k_features / features).bound_storage(column, s.sizes.head_dim / features);
    prepared.tile(s.r, column, ro, d_o, ri, di, w, columns, TailStrategy::RoundUp)
        .reorder(ri, di, d_o, ro, s.t)
        .vectorize(ri)
        .unroll(di);
    schedule_transpose(lanes_of_rows, {prepared, d_o});
    s.q_rows.compute_at(prepared, ro);
    if (counts_features(s)) s.q_rows.bound_storage(s.d, s.sizes.head_dim);
    if (is_few_vectors(s.sizes, s.sizes.head_dim))
        schedule_rotated_rows(s.q_rows, s.q_rotated, row_lanes, row_lanes);
    else
        schedule_rotated_rows(s.q_rows, s.q_rotated, row_lanes, s.sizes.row_ends);
}

void schedule_task(Stages &s, int stored_lanes) {
    const Sizes &z = s.sizes;
    const int w = z.lanes;
    for (Func *of_row : {&s.row_tokens, &s.row_heads})
        if (of_row->defined())
            of_row->compute_root().bound_storage(s.t, z.task_tiles).bound(s.r, 0, z.row_tile).vectorize(s.r, w);
    if (s.row_sinks.defined()) s.row_sinks.compute_root().bound_storage(s.t, z.task_tiles).bound(s.r, 0, z.row_tile);
    for (Func *whole_task : {&s.state, &s.inverse_sum, &s.row_lse, &s.out_copy})
        whole_task->compute_root().bound_storage(s.t, z.task_tiles);
    if (s.tile_rows.defined())
        for (Func *whole_task : {&s.state, &s.inverse_sum, &s.row_lse, &s.out_copy})
            whole_task->bound(s.r, 0, z.row_tile).bound(s.t, 0, s.tiles);
    s.out_copy.bound_storage(s.d, z.v_head_dim);
    if (counts_features(s)) s.out_copy.bound(s.d, 0, s.v_features);
    schedule_results(s, w, stored_lanes);
    s.state.bound(s.e, 0, s.value_chunks)
        .bound_storage(s.e, z.v_head_dim / z.feature_chunk)
        .bound(s.r, 0, z.row_tile)
        .vectorize(s.r, w);
}

Stage schedule_recurrence(Stages &s, int row_vectors, const TaskLoops &loops, int update, bool unrolled) {
    const int w = s.sizes.lanes;
    for (Func *one_block : {&s.masked, &s.block_max})
        if (one_block->defined()) one_block->bound_storage(s.b, 1);
    Stage recurrence = s.state.update(update);
    recurrence.rename(s.t, loops.tile)
        .split(s.r, loops.register_tile, loops.vector, row_vectors * w)
        .split(loops.vector, loops.vector, loops.lane, w)
        .reorder(loops.lane, loops.vector, loops.register_tile, s.e, loops.tile, s.block)
        .vectorize(loops.lane)
        .never_partition_all();
    if (unrolled) recurrence.unroll(loops.vector);
    return recurrence;
}

} // namespace gyre::attention
