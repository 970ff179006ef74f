// What all schedules of attention do alike: what surrounds the recurrence, and its loops.
#include "attention/attention_schedules.h"
#include "guard.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;
namespace {

/// From rows, rotated, to queries along the lanes.
void schedule_queries(Stages &s, int w) {
    s.q_scaled.compute_root().bound_storage(s.t, s.sizes.task_tiles);
    Var ro("ro"), ri("ri"), d_o("do"), di("di");
    const Var column = s.q_scaled.args()[1];       // features, or pairs of them
    const int columns = s.sizes.pairs ? w / 2 : w; // a block of the transposition
    s.q_scaled.tile(s.r, column, ro, d_o, ri, di, w, columns, TailStrategy::RoundUp)
        .reorder(ri, di, d_o, ro, s.t)
        .vectorize(ri)
        .unroll(di);
    schedule_transpose(s.q_lanes, {s.q_scaled, d_o});
    s.q_rows.compute_at(s.q_scaled, ro);
    schedule_rotated_rows(s.q_rows, s.q_rotated, w);
}

/// The state's last values, normalised, transposed back to rows and rotated back.
void schedule_results(Stages &s, int w) {
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
    s.out.compute_root();
    schedule_rotated_rows(s.out, s.out_rotated, w);
}

} // namespace

void schedule_task(Stages &s) {
    const Sizes &z = s.sizes;
    const int w = z.lanes;
    if (s.row_tokens.defined())
        s.row_tokens.compute_root().bound_storage(s.t, z.task_tiles).bound(s.r, 0, z.row_tile).vectorize(s.r, w);
    for (Func *whole_task : {&s.state, &s.inverse_sum, &s.row_lse, &s.out_copy})
        whole_task->compute_root().bound_storage(s.t, z.task_tiles);
    s.out_copy.bound_storage(s.d, z.v_head_dim);
    if (z.matrices)
        schedule_matrix_queries(s);
    else
        schedule_queries(s, w);
    schedule_results(s, w);

    s.state.bound(s.e, 0, z.v_head_dim / z.feature_chunk).bound(s.r, 0, z.row_tile).vectorize(s.r, w);
}

void schedule_guard(Stages &s, int lanes) {
    if (!s.guarded.defined()) return;
    for (Func *one_block : {&s.value_peaks, &s.guarded}) one_block->compute_at(s.state, s.block).bound_storage(s.b, 1);
    const int together = guard_lanes(s.sizes), vector = std::min(lanes, together);
    s.value_peaks.bound(s.l, 0, together).vectorize(s.l, vector).unroll(s.l);
    s.value_peaks.update().reorder(s.l, s.peak_chunk, s.peak_key).vectorize(s.l, vector).unroll(s.l);
    s.guarded.update().unscheduled();
}

Stage schedule_recurrence(Stages &s, const Knobs &k, const TaskLoops &loops, int update) {
    const int w = s.sizes.lanes;
    for (Func *offsets : {&s.k_offsets, &s.v_offsets}) {
        if (!offsets->defined()) continue;
        offsets->compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(s.j, (s.sizes.key_block + w - 1) / w * w)
            .vectorize(s.j, w, TailStrategy::RoundUp);
    }
    for (Func *one_block : {&s.masked, &s.weights, &s.block_max})
        if (one_block->defined()) one_block->bound_storage(s.b, 1);
    return s.state.update(update)
        .rename(s.t, loops.tile)
        .split(s.r, loops.register_tile, loops.vector, k.row_vectors * w)
        .split(loops.vector, loops.vector, loops.lane, w)
        .reorder(loops.lane, loops.vector, loops.register_tile, s.e, loops.tile, s.block)
        .vectorize(loops.lane)
        .unroll(loops.vector)
        .never_partition_all();
}

} // namespace gyre::attention
