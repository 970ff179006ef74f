#include "attention/attention_schedules.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// A tile that does not divide what it tiles would read and write past storage whose size is a promise.
void check_divides(const char *part_name, int part, const char *whole_name, int whole) {
    _halide_user_assert(whole % part == 0)
        << whole_name << " is " << whole << ", expected a multiple of " << part_name << ", " << part << "\n";
}

void check_knobs(const Sizes &z, const Knobs &k) {
    if (z.fold > 0) {
        _halide_user_assert(!z.general) << "fold is " << z.fold << ", expected 0 in the general family\n";
        check_divides("fold", z.fold, "lanes", k.lanes);
        check_divides("lanes", k.lanes, "feature_chunk", k.feature_chunk);
    }
    check_divides("key_unroll", k.key_unroll, "key_block", z.key_block);
    check_divides("feature_chunk", k.feature_chunk, "head_dim", z.v_head_dim);
    check_divides("lanes", k.lanes, "head_dim", z.head_dim);
    if (k.key_vector > 1) {
        _halide_user_assert(z.fold <= 1) << "key_vector is " << k.key_vector << ", expected 1 with fold above 1\n";
        check_divides("key_vector", k.key_vector, "head_dim", z.head_dim);
        check_divides("key_vector", k.key_vector, "feature_chunk", k.feature_chunk);
    }
    if (z.general) check_divides("lanes", k.lanes, "key_block", z.key_block);
    if (z.dropout) check_divides("words of a draw", 4, "key_block", z.key_block);
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
void schedule_score(Stages &s, const TaskLoops &loops, int w) {
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
        a.kept.compute_at(s.state, loops.tile).bound_storage(s.b, 1).bound_storage(s.j, s.sizes.key_block);
        if (!a.rows.defined()) {
            a.kept.update().vectorize(s.r, w);
            continue;
        }
        schedule_columns_from_rows(s, a.kept, 0, a.key, a.rows, a.lanes, w);
    }
}

/// Random words are drawn for four keys and a vector of rows at a time, in registers.
void schedule_dropout(Stages &s, const LoopLevel &tile, int w) {
    Var jo("jo"), ji("ji"), ro("ro"), ri("ri");
    s.kept.compute_at(tile)
        .bound_storage(s.b, 1)
        .bound_storage(s.j, s.sizes.key_block)
        .tile(s.r, s.j, ro, jo, ri, ji, w, 4, TailStrategy::RoundUp)
        .vectorize(ri)
        .unroll(ji);
    s.draws.compute_at(s.kept, ro).vectorize(s.r, w);
}

} // namespace

// One task owns a few row tiles of the heads that share keys. A block of keys and values is rotated and packed into dense
// rows once a task, unless they are read as stored, and used by all its row tiles; a row tile's scores and weights for the
// block stay in L1.
void schedule_cpu(Stages &s, const Knobs &k) {
    const Sizes &z = s.sizes;
    check_knobs(z, k);
    const int w = z.lanes;
    Var ro("ro"), ri("ri"), rv("rv"), jo("jo"), ji("ji");
    const TaskLoops loops;
    schedule_task(s);
    schedule_recurrence(s, k, loops);
    schedule_guard(s, w);

    // Rows are a cache line longer than they need be: at a power of two, equal features of all keys would share a few
    // sets of the L1 cache.
    if (!z.as_stored) {
        for (auto [rows, dim] : {std::pair{&s.k_rows, z.head_dim}, std::pair{&s.v_rows, z.v_head_dim}})
            rows->compute_at(s.state, s.block)
                .bound_storage(s.b, 1)
                .bound_storage(s.j, z.key_block)
                .bound_storage(s.d, dim + cache_line);
        schedule_rotated_rows(s.k_rows, s.k_rotated, k.lanes, k.lanes);
        schedule_rotated_rows(s.v_rows, s.v_rotated, k.lanes, k.lanes);
    }

    if (s.key_scales.defined())
        s.key_scales.compute_at(s.state, loops.tile)
            .bound_storage(s.b, 1)
            .bound_storage(s.j, z.key_block)
            .update()
            .unscheduled();

    // Scores, maximum and weights of one row tile and one block.
    s.masked.compute_at(s.state, loops.tile).bound_storage(s.j, z.key_block);
    const bool in_steps = z.key_step > 0;
    RVar formed_tile("formed_tile"), formed("formed");
    if (in_steps)
        s.masked.update(0)
            .split(s.r, ro, ri, k.row_vectors * w)
            .split(ri, ri, rv, w)
            .split(s.formed_j, formed_tile, formed, k.key_unroll)
            .reorder(rv, ri, formed, ro, formed_tile, s.key_step)
            .vectorize(rv)
            .unroll(ri)
            .unroll(formed);
    else
        s.masked.tile(s.r, s.j, ro, jo, ri, ji, k.row_vectors * w, k.key_unroll, TailStrategy::RoundUp)
            .split(ri, ri, rv, w)
            .reorder(rv, ri, ji, ro, jo)
            .vectorize(rv)
            .unroll(ri)
            .unroll(ji);
    for (int update = in_steps ? 1 : 0; update < s.masked.num_update_definitions(); update++)
        if (update != s.bias_update) s.masked.update(update).vectorize(s.r, w);
    s.block_sum.bound_storage(s.b, 1);
    for (auto [reduction, key] : {std::pair{&s.block_max, s.max_j}, std::pair{&s.block_sum, s.sum_j}}) {
        reduction->compute_at(s.state, loops.tile).vectorize(s.r, w).unroll(s.r);
        reduction->update().reorder(s.r, key).vectorize(s.r, w).unroll(s.r);
    }
    if (!z.pairs || z.dropout)
        s.weights.compute_at(s.state, loops.tile).bound_storage(s.j, z.key_block).vectorize(s.r, w).unroll(s.r);

    if (z.matrices)
        schedule_matrices(s, k, {s.masked, ro}, {s.state, loops.tile}, {s.state, loops.register_tile});
    else if (z.pairs)
        schedule_pairs(s, k, {s.masked, ro}, {s.state, loops.tile}, {s.state, loops.register_tile});
    else
        schedule_products(s, k, {s.masked, ro}, {s.state, loops.register_tile});
    if (z.general) schedule_general(s, w);
    if (z.dropout) schedule_dropout(s, {s.state, loops.tile}, w);
    if (s.score_update >= 0) schedule_score(s, loops, w);
}

} // namespace gyre::attention
