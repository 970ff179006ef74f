#include "attention_schedules.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int cache_line = 16; // f32 elements

/// A tile that does not divide what it tiles would read and write past storage whose size is a promise.
void check_divides(const char *part_name, int part, const char *whole_name, int whole) {
    _halide_user_assert(whole % part == 0)
        << whole_name << " is " << whole << ", expected a multiple of " << part_name << ", " << part << "\n";
}

void check_knobs(const Sizes &z, const Knobs &k) {
    check_divides("key_unroll", k.key_unroll, "key_block", z.key_block);
    check_divides("feature_chunk", k.feature_chunk, "head_dim", z.v_head_dim);
    check_divides("lanes", k.lanes, "head_dim", z.head_dim);
    if (z.general) check_divides("lanes", k.lanes, "key_block", z.key_block);
}

/// An update of `columns`, which has queries along the lanes, from `rows` along keys: rows of the whole block, since
/// neighbours in memory are best read together, then transposed a column block of the row tile at a time. Rows are
/// formed within a loop of one turn, `whole`, and so not at all where the update has nothing to do.
void schedule_columns_from_rows(Stages &s, Func columns, int update, const RVar &key, Func rows, Transpose &lanes,
                                int w) {
    RVar whole("whole"), jo("jo"), ji("ji");
    columns.update(update)
        .split(key, whole, ji, s.sizes.key_block, TailStrategy::GuardWithIf)
        .split(ji, jo, ji, w, TailStrategy::GuardWithIf)
        .reorder(s.r, ji, jo, whole)
        .vectorize(s.r, w)
        .never_partition_all();
    rows.compute_at(columns, whole)
        .bound_storage(s.b, 1)
        .bound_storage(s.j, s.sizes.key_block + cache_line)
        .vectorize(s.j, w, TailStrategy::RoundUp)
        .never_partition(s.r);
    schedule_transpose(lanes, {columns, jo});
}

void schedule_general(Stages &s, int w) {
    schedule_columns_from_rows(s, s.masked, s.bias_update, s.bias_j, s.bias_rows, s.bias_lanes, w);
    s.bias_rows.update().vectorize(s.attend_j, w).never_partition(s.r);
}

/// What a score function reads of a query, a key or a distance is kept where it changes: of queries for the task, of
/// the others for a block. What it reads along keys goes the way of the bias.
void schedule_score(Stages &s, int w) {
    for (Func &f : s.score_parts.by_query)
        f.compute_root().bound_storage(s.t, s.sizes.task_tiles).vectorize(s.r, w, TailStrategy::RoundUp);
    for (Func &f : s.score_parts.by_key)
        f.compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(s.j, s.sizes.key_block)
            .vectorize(s.j, w, TailStrategy::RoundUp);
    for (Func &f : s.score_parts.by_distance)
        f.compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(s.x, s.sizes.row_tile * s.sizes.task_tiles + s.sizes.key_block)
            .vectorize(s.x, w, TailStrategy::RoundUp);
    for (ScoreParts::Along &a : s.score_parts.along) {
        a.kept.compute_at(s.state, s.t).bound_storage(s.b, 1).bound_storage(s.j, s.sizes.key_block);
        if (!a.rows.defined()) {
            a.kept.update().vectorize(s.r, w);
            continue;
        }
        schedule_columns_from_rows(s, a.kept, 0, a.key, a.rows, a.lanes, w);
    }
}

} // namespace

void schedule_places(Stages &s, int w) {
    for (Func *offsets : {&s.k_offsets, &s.v_offsets})
        offsets->compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(s.j, (s.sizes.key_block + w - 1) / w * w)
            .vectorize(s.j, w, TailStrategy::RoundUp);
    if (!s.row_tokens.defined()) return;
    s.row_tokens.compute_root()
        .bound_storage(s.t, s.sizes.task_tiles)
        .bound(s.r, 0, s.sizes.row_tile)
        .vectorize(s.r, w);
}

// One task owns a few row tiles of one head. A block of keys and values is rotated and packed into dense rows once a
// task, and used by all its row tiles; a row tile's scores and weights for the block stay in L1. The two matrix
// products keep row_vectors x key_unroll (or feature_chunk) accumulators in registers: each step loads row_vectors
// vectors of queries or weights and broadcasts one scalar of a key or value a column.
void schedule_cpu(Stages &s, const Knobs &k) {
    check_knobs(s.sizes, k);
    const int w = k.lanes, tile = k.row_vectors * w;
    Var ro("ro"), ri("ri"), rv("rv"), jo("jo"), ji("ji"), d_o("do"), di("di");

    schedule_places(s, w);
    for (Func *whole_task : {&s.q_scaled, &s.state, &s.inverse_sum, &s.out_copy})
        whole_task->compute_root().bound_storage(s.t, s.sizes.task_tiles);
    s.out_copy.bound_storage(s.d, s.sizes.v_head_dim);

    for (Func *one_block : {&s.k_rows, &s.v_rows, &s.masked, &s.weights, &s.block_max, &s.block_sum})
        one_block->bound_storage(s.b, 1);

    // Queries, once.
    s.q_scaled.tile(s.r, s.d, ro, d_o, ri, di, w, w, TailStrategy::RoundUp)
        .reorder(ri, di, d_o, ro, s.t)
        .vectorize(ri)
        .unroll(di);
    schedule_transpose(s.q_lanes, {s.q_scaled, d_o});
    s.q_rows.compute_at(s.q_scaled, ro);
    schedule_rotated_rows(s.q_rows, s.q_rotated, s.d, w);

    // The recurrence over blocks of keys, for all row tiles of the task.
    s.state.bound(s.e, 0, s.sizes.v_head_dim / s.sizes.feature_chunk).bound(s.r, 0, s.sizes.row_tile).vectorize(s.r, w);
    s.state.update()
        .split(s.r, ro, ri, tile)
        .split(ri, ri, rv, w)
        .reorder(rv, ri, ro, s.e, s.t, s.block)
        .vectorize(rv)
        .unroll(ri)
        .never_partition_all();

    // Rows are a cache line longer than they need be: at a power of two, equal features of all keys would share a few
    // sets of the L1 cache.
    for (auto [rows, dim] : {std::pair{&s.k_rows, s.sizes.head_dim}, std::pair{&s.v_rows, s.sizes.v_head_dim}})
        rows->compute_at(s.state, s.block).bound_storage(s.j, s.sizes.key_block).bound_storage(s.d, dim + cache_line);
    schedule_rotated_rows(s.k_rows, s.k_rotated, s.d, w, w);
    schedule_rotated_rows(s.v_rows, s.v_rotated, s.d, w, w);

    // Scores, maximum and weights of one row tile and one block.
    s.masked.compute_at(s.state, s.t)
        .bound_storage(s.j, s.sizes.key_block)
        .tile(s.r, s.j, ro, jo, ri, ji, tile, k.key_unroll, TailStrategy::RoundUp)
        .split(ri, ri, rv, w)
        .reorder(rv, ri, ji, ro, jo)
        .vectorize(rv)
        .unroll(ri)
        .unroll(ji);
    s.scores.compute_at(s.masked, ro).vectorize(s.r, w).unroll(s.r).unroll(s.j);
    s.scores.update().reorder(s.r, s.j, s.feature).vectorize(s.r, w).unroll(s.r).unroll(s.j);
    for (int update = 0; update < s.masked.num_update_definitions(); update++)
        if (update != s.bias_update) s.masked.update(update).vectorize(s.r, w);

    for (auto [reduction, key] : {std::pair{&s.block_max, s.max_j}, std::pair{&s.block_sum, s.sum_j}}) {
        reduction->compute_at(s.state, s.t).vectorize(s.r, w).unroll(s.r);
        reduction->update().reorder(s.r, key).vectorize(s.r, w).unroll(s.r);
    }
    s.weights.compute_at(s.state, s.t).bound_storage(s.j, s.sizes.key_block).vectorize(s.r, w).unroll(s.r);

    s.weighted.compute_at(s.state, ro).vectorize(s.r, w).unroll(s.r).unroll(s.d);
    s.weighted.update().reorder(s.r, s.d, s.value_j).vectorize(s.r, w).unroll(s.r).unroll(s.d);

    if (s.sizes.general) schedule_general(s, w);
    if (s.score_update >= 0) schedule_score(s, w);

    // Epilogue: the state's last values, normalised, transposed back to rows and rotated back.
    s.lse.compute_root().vectorize(s.i, w, TailStrategy::GuardWithIf);
    s.inverse_sum.vectorize(s.r, w);
    s.out_copy.tile(s.d, s.r, d_o, ro, di, ri, w, w, TailStrategy::RoundUp).vectorize(di).unroll(ri);
    schedule_transpose(s.out_rows, {s.out_copy, d_o});
    s.out.compute_root();
    schedule_rotated_rows(s.out, s.out_rotated, s.d, w);
}

} // namespace gyre::attention
