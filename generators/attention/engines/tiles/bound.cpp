// Row tiles whose scores are provably small.
//
// |S_ij| <= scale |q_i| |k_j|. Where that is below score_limit() for all keys that a row tile sees, powers of two and their
// sums fit the numbers that they are kept in as they are: no maximum is sought or subtracted, and nothing is rescaled.
// NaN and infinite norms are below no limit. All other row tiles take the recurrence of recurrence/blocks.h.
//
// Norms of keys are taken before keys are rotated, which lengthens them by a known factor at most, and bounded from above:
// of every 16th feature a block's largest sum of squares, then the sum of these 16. Blocks are whole, also where a task sees
// a part, so that results do not depend on how queries are cut into tasks.
#include "tiles.h"

#include "math/bf16_pairs.h"
#include "math/norms.h"
#include "math/storage.h"
#include "passes/instructions/tile_products.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int lanes = norm_lanes;
constexpr int square_sums = 4; // of a query: divides its pairs

Expr square(const Expr &x) { return x * x; }

} // namespace

/// Squares of a key's features, whose number is known at run time. Lanes past the last one add nothing.
void Tiles::define_counted_squares(const Inputs &in) {
    const Var &l = s.l, &j = s.j;
    const Expr offset = unsafe_promise_clamped(offset_of_key(in.pages, in.k, j), 0, in.k.size - 1);
    RDom vectors(0, (in.head_dim + (lanes - 1)) / lanes, "bound_vectors");
    const Expr feature = vectors * lanes + l;
    const Expr element = widen(in.k.elements(min(likely(feature), in.head_dim - 1), offset));
    s.key_squares = Func("key_squares");
    s.key_squares(l, j) = 0.0f;
    s.key_squares(l, j) += square(select(likely(feature < in.head_dim), element, 0.0f));
    s.bound_vector = vectors;
}

/// Defines s.is_bounded, s.any_bounded and s.any_exact, from s.q_scaled.
void Tiles::define_bound(const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &l = s.l;
    // Sums side by side, since each waits for its last number.
    RDom pairs(0, s.k_features / 2 / square_sums, "bound_pairs"), rows(0, z.row_tile, "bound_rows");
    const Expr pair = s.q_scaled(r, pairs * square_sums + l, 0, t);
    s.q_squares = Func("q_squares");
    s.q_squares(r, l, t) += square(bf16_of_pair(pair, 0)) + square(bf16_of_pair(pair, 1));
    Expr of_row = s.q_squares(rows, 0, t);
    for (int sum = 1; sum < square_sums; sum++) of_row += s.q_squares(rows, sum, t);
    s.q_norm = Func("q_norm");
    s.q_norm(t) = Expr(0u);
    s.q_norm(t) = max(s.q_norm(t), ordered_bits(of_row));

    const int keys_together = in.key_squares.defined() ? tile_depth : 1;
    RDom keys(0, z.key_block / keys_together, "bound_keys");
    const Expr key = b * z.key_block + keys * keys_together;
    keys.where(key < in.keys);
    s.k_squares = Func("k_squares");
    s.k_squares(l, b) = Expr(0u);
    if (in.key_squares.defined()) {
        const Expr block = unsafe_promise_clamped(key / keys_together, 0, (in.keys - 1) / keys_together);
        s.k_squares(l, b) = max(s.k_squares(l, b), in.key_squares(l, block));
    } else {
        const Expr offset = unsafe_promise_clamped(offset_of_key(in.pages, in.k, key), 0, in.k.size - 1);
        const auto element = [&](const Expr &feature) { return in.k.elements(feature, offset); };
        if (facts.dense_features == 0) define_counted_squares(in);
        const Expr squares =
            facts.dense_features > 0 ? sum_of_squares(element, l, facts.dense_features) : Expr(s.key_squares(l, key));
        s.k_squares(l, b) = max(s.k_squares(l, b), ordered_bits(squares));
    }
    s.k_norm = Func("k_norm");
    s.k_norm(b) = reinterpret<float>(s.k_squares(0, b));
    for (int lane = 1; lane < lanes; lane++) s.k_norm(b) += reinterpret<float>(s.k_squares(lane, b));

    const Expr factor = magnitude_of(in.scale) * in.key_gain;
    RDom blocks(0, (in.keys + z.key_block - 1) / z.key_block, "bound_blocks");
    const Visible visible = visible_keys(in, s);
    const Expr seen =
        blocks * z.key_block <= visible.tile_last && blocks * z.key_block + z.key_block - 1 >= visible.tile_first;
    const Expr square_of_bound = reinterpret<float>(s.q_norm(t)) * s.k_norm(blocks) * (factor * factor);
    s.is_bounded = Func("is_bounded");
    s.is_bounded(t) = select(has_small_distances(in), 1, 0);
    const Expr limit = score_limit(in);
    s.is_bounded(t) = select(seen && ordered_bits(square_of_bound) > ordered_bits(limit * limit), 0, s.is_bounded(t));
    s.bound_pair = pairs;
    s.bound_row = rows;
    s.bound_key = keys;
    s.bound_block = blocks;

    RDom tiles(0, (in.rows + z.row_tile - 1) / z.row_tile, "bound_tiles");
    s.any_exact = Func("any_exact");
    s.any_exact() = 0;
    s.any_exact() = max(s.any_exact(), 1 - s.is_bounded(tiles));
    RDom bounded_tiles(0, (in.rows + z.row_tile - 1) / z.row_tile, "bounded_tiles");
    s.any_bounded = Func("any_bounded");
    s.any_bounded() = 0;
    s.any_bounded() = max(s.any_bounded(), s.is_bounded(bounded_tiles));
}

void Tiles::schedule_bound(int w) {
    const Sizes &z = s.sizes;
    s.any_exact.compute_root();
    s.any_bounded.compute_root();
    s.is_bounded.compute_root().bound_storage(s.t, z.task_tiles);
    s.is_bounded.update().reorder(s.t, s.bound_block);
    s.q_norm.compute_root().bound_storage(s.t, z.task_tiles);
    s.q_squares.compute_at(s.q_norm, s.t).bound(s.l, 0, square_sums).vectorize(s.r, w).unroll(s.r).unroll(s.l);
    s.q_squares.update().reorder(s.r, s.l, s.bound_pair).vectorize(s.r, w).unroll(s.r).unroll(s.l);
    s.k_norm.compute_at(s.is_bounded, s.bound_block).bound_storage(s.b, 1);
    s.k_squares.compute_at(s.is_bounded, s.bound_block).bound_storage(s.b, 1).bound(s.l, 0, lanes).vectorize(s.l, w);
    s.k_squares.update().reorder(s.l, s.bound_key).vectorize(s.l, w);
    if (!s.key_squares.defined()) return;
    s.key_squares.compute_at(s.k_squares, s.bound_key).bound(s.l, 0, lanes).vectorize(s.l, w);
    s.key_squares.update().reorder(s.l, s.bound_vector).vectorize(s.l, w);
}

} // namespace gyre::attention
