#include "attention/recurrence/task_schedule.h"
#include "attention/variants/general/scores.h"
#include "key_lanes.h"

namespace gyre::attention {
using namespace Halide;

void KeyLanes::check() const {
    const Sizes &z = s.sizes;
    _halide_user_assert(provider->reads_in_place()) << "expected as_stored=true with fold equal to lanes\n";
    _halide_user_assert(z.key_block % k.lanes == 0 && z.head_dim % k.lanes == 0)
        << "expected lanes to divide key_block and head_dim\n";
}

// One task owns all rows that share keys, a row tile of one or two at a time. The vectors of both products hold features, as
// keys and values are stored; these are read where they are, by the first row tile from memory and by others from L1.
void KeyLanes::schedule() {
    const Sizes &z = s.sizes;
    check();
    const int w = k.lanes;
    const TaskLoops loops;
    Var d_o("do"), di("di"), lane("lane");

    if (s.row_tokens.defined()) s.row_tokens.compute_root().bound_storage(s.t, z.task_tiles).bound(s.r, 0, z.row_tile);
    s.q_rows.compute_root().bound_storage(s.t, z.task_tiles).bound(s.d, 0, z.head_dim).bound(s.r, 0, z.row_tile);
    schedule_rotated_rows(s.q_rows, s.q_rotated, w);

    s.state.compute_root()
        .bound_storage(s.t, z.task_tiles)
        .bound(s.e, 0, z.v_head_dim / z.feature_chunk)
        .bound(s.r, 0, z.row_tile)
        .reorder_storage(s.e, s.r, s.t)
        .reorder(s.e, s.r, s.t)
        .vectorize(s.e, w);
    s.state.update()
        .rename(s.t, loops.tile)
        .reorder(s.e, s.r, loops.tile, s.block)
        .vectorize(s.e, w)
        .never_partition_all();
    provider->schedule_offsets(s, w);
    for (Func *offsets : {&s.operands.k_offsets, &s.operands.v_offsets}) offsets->specialize(pages == 1);
    schedule_guard(s, w);

    // Scores of a vector of keys: each key's products, then transposed and summed row by row.
    for (Func *of_keys : {&s.masked, &s.weights})
        of_keys->compute_at(s.state, loops.tile)
            .bound_storage(s.b, 1)
            .bound_storage(s.j, z.key_block)
            .bound(s.r, 0, z.row_tile)
            .reorder_storage(s.j, s.r, s.t, s.b);
    s.masked.update(0)
        .allow_race_conditions()
        .reorder(s.formed_j, s.r, s.key_step)
        .vectorize(s.formed_j)
        .never_partition_all();
    for (size_t round = 0; round < s.lane_pairs.size(); round++) {
        const int vectors = w >> (round + 1);
        const Var bit = s.lane_pairs[round].args()[0];
        s.lane_pairs[round].compute_at(s.masked, s.r).bound(bit, 0, 2).bound(s.f, 0, w).unroll(bit);
        s.lane_sums[round].compute_at(s.masked, s.r).bound(s.f, 0, w);
        for (Func *of_round : {&s.lane_pairs[round], &s.lane_sums[round]})
            of_round->bound_extent(s.j, vectors).vectorize(s.f).unroll(s.j);
    }
    Func products = s.folded_scores.in();
    products.compute_at(s.masked, s.key_step)
        .bound(s.f, 0, w)
        .bound(s.r, 0, z.row_tile)
        .reorder(s.f, s.r, s.j)
        .vectorize(s.f)
        .unroll(s.r);
    s.folded_scores.compute_at(products, s.j).vectorize(s.f).unroll(s.r);
    s.folded_scores.update().reorder(s.f, s.r, s.feature).vectorize(s.f).unroll(s.r);
    if (!z.padded) s.folded_scores.update().unroll(s.feature);
    s.masked.update(s.masked.num_update_definitions() - 1).allow_race_conditions().vectorize(s.mask_j);

    for (auto [by_lane, step] : {std::pair{&s.lane_max, s.max_j}, {&s.lane_sum, s.sum_j}}) {
        by_lane->compute_at(s.state, loops.tile).bound_storage(s.b, 1).bound(s.l, 0, w).vectorize(s.l);
        by_lane->update().reorder(s.l, step, s.r).vectorize(s.l);
    }
    for (Func *of_row : {&s.block_max, &s.block_sum}) of_row->compute_at(s.state, loops.tile).bound_storage(s.b, 1);
    s.weights.update()
        .allow_race_conditions()
        .reorder(s.weight_j, s.r, s.weight_step)
        .vectorize(s.weight_j)
        .never_partition_all();

    // Weighted values: a register tile of all rows and feature_chunk vectors of features.
    int register_tile = k.feature_chunk * w;
    while (z.v_head_dim % register_tile != 0) register_tile /= 2;
    Func weighted_copy = s.weighted_rows.in();
    weighted_copy.compute_at(s.state, loops.tile)
        .bound_storage(s.b, 1)
        .bound(s.d, 0, z.v_head_dim)
        .bound(s.r, 0, z.row_tile)
        .split(s.d, d_o, di, register_tile)
        .reorder(di, s.r, d_o)
        .vectorize(di, w)
        .unroll(di)
        .unroll(s.r);
    s.weighted_rows.compute_at(weighted_copy, d_o);
    schedule_weighted_rows(s, w);
    schedule_guarded_rows(s, w);

    for (Func *whole_task : {&s.inverse_sum, &s.row_lse, &s.out_copy})
        whole_task->compute_root().bound_storage(s.t, z.task_tiles);
    s.lse.compute_root();
    s.out_copy.bound(s.d, 0, z.v_head_dim)
        .split(s.d, d_o, di, z.v_head_dim / z.feature_chunk)
        .split(di, di, lane, w)
        .reorder(lane, d_o, di, s.r)
        .vectorize(lane)
        .unroll(d_o);
    s.out.compute_root();
    schedule_rotated_rows(s.out, s.out_rotated, w);

    if (s.general.bias_rows.defined()) schedule_general_along_keys(s, {s.state, loops.tile}, w);
}

} // namespace gyre::attention
