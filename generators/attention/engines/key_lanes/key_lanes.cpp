#include "key_lanes.h"

#include "attention/recurrence/blocks.h"
#include "attention/recurrence/scores.h"

#include <functional>

namespace gyre::attention {
using namespace Halide;
namespace {

using Join = std::function<Expr(const Expr &, const Expr &)>;

/// All lanes, halves with halves, as vectors do.
Expr joined_in_pairs(std::vector<Expr> values, const Join &join) {
    while (values.size() > 1) {
        const size_t half = (values.size() + 1) / 2;
        for (size_t i = 0; i + half < values.size(); i++) values[i] = join(values[i], values[i + half]);
        values.resize(half);
    }
    return values[0];
}

/// Joins what the keys of a block have that some row sees: first those of equal lanes, then the lanes.
void join_keys(const KeyLaneStages &s, const Visible &visible, int n, Func by_lane, Func all, const Func &of_key,
               const Expr &neutral, const Join &join, RVar *step) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &l = s.l;
    RDom steps(0, z.key_block / n, "lane_steps");
    steps.where(b * z.key_block + steps * n <= visible.tile_last);
    by_lane(l, r, t, b) = neutral;
    by_lane(l, r, t, b) = join(by_lane(l, r, t, b), of_key(r, steps * n + l, t, b));
    std::vector<Expr> lanes;
    for (int lane = 0; lane < n; lane++) lanes.push_back(by_lane(lane, r, t, b));
    all(r, t, b) = joined_in_pairs(lanes, join);
    *step = steps;
}

} // namespace

/// Sums as many vectors of products as a vector has lanes, one of each key, into one vector that holds a key's sum in each lane: (l, j / lanes, r, t, b).
///
/// A round takes two vectors, of keys that are half the number of vectors apart, interleaves them and adds one half of what results to
/// the other: a vector with half as many numbers of each of these keys. Each round halves the vectors, and puts one more bit of
/// the key below the bits of the rounds before, so that at last lane l has key l.
Func KeyLanes::sum_across_lanes() {
    const int n = k.lanes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f, bit("bit");
    Func sums = s.folded_scores;
    for (int vectors = n / 2; vectors >= 1; vectors /= 2) {
        const std::string round = std::to_string(s.lane_pairs.size());
        Func pairs("lane_pairs_" + round), next("lane_sums_" + round);
        // Vector j of `vectors` is vector j % vectors of the keys from j / vectors * lanes on.
        const Expr first = j / vectors * (2 * vectors) + j % vectors;
        pairs(bit, f, j, r, t, b) = sums(f, first + bit * vectors, r, t, b);
        next(f, j, r, t, b) = pairs(f % 2, f / 2, j, r, t, b) + pairs(f % 2, f / 2 + n / 2, j, r, t, b);
        s.lane_pairs.push_back(pairs);
        s.lane_sums.push_back(next);
        sums = next;
    }
    return sums;
}

void KeyLanes::define_queries(const Inputs &in) { pages = in.pages.count; }

void KeyLanes::define_scores(const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f;
    const int n = k.lanes;
    RDom features(0, z.head_dim / n, "features");
    if (z.padded) features.where(features * n < in.head_dim);
    s.feature = features;
    const Expr feature = features * n + f;
    const Expr of_query =
        z.padded ? unsafe_promise_clamped(min(features * n, in.head_dim - n) + f, 0, z.head_dim - 1) : feature;
    s.folded_scores = Func("folded_scores");
    s.folded_scores(f, j, r, t, b) += s.q_rows(of_query, r, t) * s.operands.k_rows(feature, j, b);
    s.scores = Func("scores");
    s.scores(r, j, t, b) = sum_across_lanes()(j % n, j / n, r, t, b);
}

void KeyLanes::define_maximum(const Visible &visible) {
    mask_scores(s, visible, steps(), visible.at_edge(s.b * s.sizes.key_block, s.sizes.key_block));
    s.lane_max = Func("lane_max");
    s.block_max = Func("block_max");
    join_keys(
        s, visible, k.lanes, s.lane_max, s.block_max, s.masked, least_score,
        [](const Expr &x, const Expr &y) { return max(x, y); }, &s.max_j);
}

void KeyLanes::define_sum(const Visible &visible) {
    s.lane_sum = Func("lane_sum");
    join_keys(
        s, visible, k.lanes, s.lane_sum, s.block_sum, s.weights, 0.0f,
        [](const Expr &x, const Expr &y) { return x + y; }, &s.sum_j);
}

} // namespace gyre::attention
