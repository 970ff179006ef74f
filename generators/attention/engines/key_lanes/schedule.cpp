#include "attention/recurrence/task_schedule.h"
#include "attention/variants/dropout/kept_along_keys.h"
#include "attention/variants/general/scores.h"
#include "key_lanes.h"
#include "passes/instructions/neighbour_pairs.h"
#include "passes/loop_name.h"
#include "passes/order/loop_branches.h"
#include "passes/order/loop_limits.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int most_folded = 16;     // vectors of features in a tuple of the state
constexpr int padded_features = 64; // in a tuple, at least, where a call tells how many there are
constexpr int narrow_lanes = 4;     // so few keys in a step are not worth code for each

} // namespace

void KeyLanes::choose_sizes() {
    Sizes &z = s.sizes;
    for (const int dim : {z.head_dim, z.v_head_dim})
        _halide_user_assert(dim > 0 && dim % k.lanes == 0)
            << "lanes is " << k.lanes << ", expected to divide the head size, " << dim << "\n";
    const int vectors = z.v_head_dim / k.lanes;
    value_features = std::min(vectors, k.feature_chunk) * k.lanes;
    while (z.v_head_dim % value_features != 0) value_features -= k.lanes;
    // Tuples cover every feature; where a call tells how many there are, each holds whole register tiles.
    const int tile = z.padded ? value_features / k.lanes : 1;
    z.feature_chunk = z.padded ? std::max(padded_features / k.lanes, tile) : std::min(vectors, most_folded);
    while (vectors % z.feature_chunk != 0 || z.feature_chunk % tile != 0) z.feature_chunk--;
}

bool KeyLanes::takes_keys_inside() const {
    const bool asks_in_turns = facts.asks_ahead && !facts.one_row_reads_values;
    return (asks_in_turns || s.sizes.padded) && k.lanes > narrow_lanes;
}

void KeyLanes::check() const {
    const Sizes &z = s.sizes;
    _halide_user_assert(provider->reads_in_place()) << "expected as_stored=true with fold equal to lanes\n";
    const int together = k.lanes * vectors_together();
    _halide_user_assert(value_features % together == 0)
        << "values take " << value_features << " features at a time, expected a multiple of " << together << "\n";
    _halide_user_assert(z.key_block % value_keys == 0)
        << "expected key_block to be a multiple of " << value_keys << "\n";
}

void KeyLanes::schedule_scores_across_lanes() {
    const Sizes &z = s.sizes;
    const int w = k.lanes;
    for (size_t round = 0; round < s.lane_pairs.size(); round++) {
        const int vectors = w >> (round + 1);
        const Var bit = s.lane_pairs[round].args()[0];
        s.lane_pairs[round].compute_at(s.masked, s.r).bound(bit, 0, 2).bound(s.f, 0, w).unroll(bit);
        s.lane_sums[round].compute_at(s.masked, s.r).bound(s.f, 0, w);
        for (Func *of_round : {&s.lane_pairs[round], &s.lane_sums[round]})
            of_round->bound_extent(s.j, vectors).vectorize(s.f).unroll(s.j);
    }
    Func products = s.folded_scores.in();
    products.compute_at(s.masked, s.t)
        .bound(s.f, 0, w)
        .bound_extent(s.j, w)
        .bound(s.r, 0, z.row_tile)
        .reorder(s.f, s.r, s.j)
        .vectorize(s.f)
        .unroll(s.r);
    if (w > narrow_lanes) products.unroll(s.j);
    // A turn of the loop over features takes all keys of the step: it asks for as many lines as it reads, and where a call tells how many turns there
    // are, sums of one key after the other would wait for each of them.
    const bool keys_inside = takes_keys_inside();
    if (keys_inside)
        s.folded_scores.compute_at(s.masked, s.t).bound_extent(s.j, w).bound(s.r, 0, z.row_tile).unroll(s.j);
    else
        s.folded_scores.compute_at(products, s.j);
    s.folded_scores.vectorize(s.f).unroll(s.r);
    for (int update = 0; update < s.folded_scores.num_update_definitions(); update++) {
        Stage stage = s.folded_scores.update(update);
        if (keys_inside) stage.reorder(s.f, s.r, s.j).unroll(s.j);
        stage.vectorize(s.f).unroll(s.r);
    }
    Stage of_features = s.folded_scores.update(0);
    std::vector<VarOrRVar> order = {s.f, s.r};
    if (facts.in_pairs) order.emplace_back(s.feature_within);
    if (keys_inside) order.emplace_back(s.j);
    order.emplace_back(s.feature);
    of_features.reorder(order);
    if (facts.in_pairs) of_features.unroll(s.feature_within);
    if (!keys_inside && !z.padded) of_features.unroll(s.feature);
}

// One task owns all rows that share keys. All of them take a step of keys, later a group of values, before the next one: the
// first row reads it from memory, one key after the other, and the others from L1. So a block may be larger than L1.
void KeyLanes::schedule() {
    const Sizes &z = s.sizes;
    check();
    const int w = k.lanes;
    const TaskLoops loops;
    Var d_o("do"), di("di"), lane("lane");

    for (Func *of_row : {&s.row_tokens, &s.row_heads})
        if (of_row->defined()) of_row->compute_root().bound_storage(s.t, z.task_tiles).bound(s.r, 0, z.row_tile);
    s.q_rows.compute_root().bound_storage(s.t, z.task_tiles).bound(s.d, 0, z.head_dim).bound(s.r, 0, z.row_tile);
    schedule_rotated_rows(s.q_rows, s.q_rotated, w, z.row_ends);
    if (s.q_placed.defined())
        s.q_placed.compute_root()
            .bound_storage(s.t, z.task_tiles)
            .bound(s.d, 0, z.head_dim)
            .bound(s.r, 0, z.row_tile)
            .vectorize(s.d, w)
            .unroll(s.d);

    s.state.compute_root()
        .bound_storage(s.t, z.task_tiles)
        .bound(s.e, 0, s.feature_groups * w)
        .bound_storage(s.e, z.v_head_dim / z.feature_chunk)
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
    schedule_guard(s, w);
    if (s.operands.key_heads.defined()) s.operands.key_heads.compute_root().bound_storage(s.t, z.task_tiles);

    // Scores of a vector of keys, row by row: each key's products, then transposed and summed.
    for (Func *of_keys : {&s.masked, &s.weights})
        of_keys->compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(s.t, z.task_tiles)
            .bound_storage(s.j, z.key_block)
            .bound(s.r, 0, z.row_tile)
            .reorder_storage(s.j, s.r, s.t, s.b);
    Stage formed = s.masked.update(0);
    formed.allow_race_conditions().reorder(s.formed_j, s.r, s.t, s.key_step).never_partition_all();
    if (facts.spreads)
        schedule_spread_keys(formed);
    else
        formed.vectorize(s.formed_j);
    if (facts.transposes_keys)
        schedule_transposed_scores();
    else
        schedule_scores_across_lanes();
    s.masked.update(s.masked.num_update_definitions() - 1).allow_race_conditions().vectorize(s.mask_j);

    for (Func *of_row : {&s.block_max, &s.block_sum})
        of_row->compute_at(s.state, s.block).bound_storage(s.b, 1).bound_storage(s.t, z.task_tiles);
    s.lane_max.compute_at(s.block_max, s.t);
    s.lane_sum.compute_at(s.block_sum, s.t);
    for (auto [by_lane, step] : {std::pair{&s.lane_max, s.max_j}, {&s.lane_sum, s.sum_j}}) {
        by_lane->bound_storage(s.b, 1).bound(s.l, 0, w).vectorize(s.l);
        by_lane->update().reorder(s.l, step, s.r).vectorize(s.l);
    }
    if (s.hidden.defined()) {
        s.hidden.compute_at(s.state, s.block).bound_storage(s.b, 1);
        s.row_hidden.compute_at(s.hidden, s.hidden_tile).bound_storage(s.b, 1); // only where there is a bias or a mask
        s.lane_hidden.compute_at(s.hidden, s.hidden_tile).bound_storage(s.b, 1).bound(s.l, 0, w).vectorize(s.l);
        s.lane_hidden.update().reorder(s.l, s.hidden_j, s.r).vectorize(s.l);
    }
    s.weights.update()
        .allow_race_conditions()
        .reorder(s.weight_j, s.r, s.weight_step)
        .vectorize(s.weight_j)
        .never_partition_all();

    if (s.dropout.kept.defined()) schedule_kept_along_keys(s, {s.state, s.block}, w);
    schedule_values();

    for (Func *whole_task : {&s.inverse_sum, &s.row_lse, &s.out_copy})
        whole_task->compute_root().bound_storage(s.t, z.task_tiles);
    s.lse.compute_root();
    if (facts.in_columns) {
        s.lse.vectorize(s.i, w, TailStrategy::GuardWithIf);
        s.state.update(s.state.num_update_definitions() - 1).vectorize(s.e, w).never_partition_all();
    }
    Var which("which");
    const int together = vectors_together();
    s.out_copy.bound(s.d, 0, s.feature_groups * (w * z.feature_chunk))
        .bound_storage(s.d, z.v_head_dim)
        .split(s.d, d_o, di, w * z.feature_chunk)
        .split(di, di, lane, w * together)
        .split(lane, lane, which, together)
        .reorder(which, lane, di, d_o, s.r)
        .vectorize(lane)
        .unroll(which)
        .unroll(di);
    s.out.compute_root();
    schedule_rotated_rows(s.out, s.out_rotated, w, z.row_ends);

    if (s.general.bias_rows.defined()) schedule_general_along_keys(s, {s.masked, s.t}, w);
}

/// Tables of offsets end with the last key, or with what is asked for.
void KeyLanes::end_tables_early(const Lowering &lowering) const {
    const int more = k.lanes - 1 + (facts.in_columns ? k.lanes : facts.transposes_keys ? keys_asked_ahead() : 0);
    const auto vectors = [keys = lowering.key_count, lanes = k.lanes, more, block = s.sizes.key_block](const Expr &b) {
        return (keys - b * block + more) / lanes;
    };
    for (const Func &offsets : {s.operands.k_offsets, s.operands.v_offsets})
        end_loop_early(lowering.generator, offsets, s.j.name(), loop_of(s.block), vectors);
}

void KeyLanes::lower(const Lowering &lowering) const {
    FeatureVectors::lower(lowering);
    if (facts.in_pairs) map_neighbour_pairs(lowering.generator);
    if (facts.spreads) branch_before_loops(lowering.generator);             // of keys_spread
    const bool has_turns = s.sizes.head_dim > k.lanes * vectors_together(); // of the loop over features, which ask
    // Kernels of own keys have the loops of others, and so their bits.
    if (facts.in_columns)
        end_last_tile(lowering);
    else if (facts.transposes_keys)
        ask_for_next_steps(lowering);
    else if (facts.asks_ahead && has_turns && !facts.own_keys)
        ask_for_keys_and_values(lowering);
    if (facts.rows_ask) share_requests(lowering);
    if (facts.own_keys || facts.transposes_keys) end_tables_early(lowering);
    if (s.guarded_sums.defined()) // Halide forms them in any case
        guard_loop(lowering.generator, s.guarded_sums, loop_of(s.guarded_key), s.guarded);
    if (!s.cut.defined()) return;
    for (const RVar &loop : {facts.own_keys ? s.peak_head : s.peak_key, s.peak_lane})
        guard_loop(lowering.generator, loop_of(loop), s.cut);
}

} // namespace gyre::attention
