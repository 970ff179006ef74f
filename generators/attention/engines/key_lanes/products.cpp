#include "products.h"

#include "math/storage.h"

namespace gyre::attention {
using namespace Halide;
namespace {

using Join = std::function<Expr(const Expr &, const Expr &)>;

RDom keys_of_block(const Sizes &z, const std::string &name) {
    if (!z.key_lanes) return {0, z.key_block, name};
    return {0, z.key_lanes, 0, z.key_block / z.key_lanes, name};
}

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
void join_keys(const Stages &s, const Visible &visible, Func by_lane, Func all, const Func &of_key, const Expr &neutral,
               const Join &join, RVar *step) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &l = s.l;
    RDom steps(0, z.key_block / z.key_lanes, "lane_steps");
    steps.where(b * z.key_block + steps * z.key_lanes <= visible.tile_last);
    by_lane(l, r, t, b) = neutral;
    by_lane(l, r, t, b) = join(by_lane(l, r, t, b), of_key(r, steps * z.key_lanes + l, t, b));
    std::vector<Expr> lanes;
    for (int n = 0; n < z.key_lanes; n++) lanes.push_back(by_lane(n, r, t, b));
    all(r, t, b) = joined_in_pairs(lanes, join);
    *step = steps;
}

/// Sums key_lanes vectors of products, one of each key, into one vector that holds a key's sum in each lane: (l, j / key_lanes, r, t, b).
///
/// A round takes two vectors, of keys that are half the number of vectors apart, interleaves them and adds one half of what results to
/// the other: a vector with half as many numbers of each of these keys. Each round halves the vectors, and puts one more bit of
/// the key below the bits of the rounds before, so that at last lane l has key l.
Func sum_across_lanes(Stages &s) {
    const int n = s.sizes.key_lanes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f, bit("bit");
    Func sums = s.folded_scores;
    for (int vectors = n / 2; vectors >= 1; vectors /= 2) {
        const std::string round = std::to_string(s.lane_pairs.size());
        Func pairs("lane_pairs_" + round), next("lane_sums_" + round);
        // Vector j of `vectors` is vector j % vectors of the keys from j / vectors * key_lanes on.
        const Expr first = j / vectors * (2 * vectors) + j % vectors;
        pairs(bit, f, j, r, t, b) = sums(f, first + bit * vectors, r, t, b);
        next(f, j, r, t, b) = pairs(f % 2, f / 2, j, r, t, b) + pairs(f % 2, f / 2 + n / 2, j, r, t, b);
        s.lane_pairs.push_back(pairs);
        s.lane_sums.push_back(next);
        sums = next;
    }
    return sums;
}

} // namespace

KeysOfBlock::KeysOfBlock(const Sizes &sizes, const std::string &name) : dom(keys_of_block(sizes, name)), lane(dom.x) {
    const bool in_vectors = sizes.key_lanes > 0;
    first = in_vectors ? Expr(dom.y * sizes.key_lanes) : Expr(dom.x);
    key = in_vectors ? first + dom.x : first;
}

void define_rows_in_whole_vectors(Stages &s, const Inputs &in, const std::function<Expr(const Expr &)> &key_element,
                                  const std::function<Expr(const Expr &)> &value_element) {
    const Var &j = s.j, &b = s.b, &d = s.d;
    const int n = s.sizes.key_lanes;
    const Expr first = d / n * n;
    const auto held = [&](const Expr &extent) { return min(first, extent - n) + d % n; };
    const Expr of_key = held(in.head_dim);
    s.k_rows(d, j, b) = select(of_key >= first, widen(key_element(of_key)), 0.0f);
    s.v_rows(d, j, b) = widen(value_element(held(in.v_head_dim)));
}

Expr place_in_whole_vectors(const Stages &s, const Inputs &in, const Expr &feature) {
    const int n = s.sizes.key_lanes;
    const Expr whole = in.v_head_dim / n * n;
    const Expr place = select(feature < whole, feature, feature - (in.v_head_dim - n) + whole);
    return unsafe_promise_clamped(place, 0, s.sizes.v_head_dim - 1);
}

void define_scores_along_lanes(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f;
    RDom features(0, z.head_dim / z.fold, "features");
    if (z.padded) features.where(features * z.fold < in.head_dim);
    s.feature = features;
    const Expr feature = features * z.fold + f;
    const Expr of_query =
        z.padded ? unsafe_promise_clamped(min(features * z.fold, in.head_dim - z.fold) + f, 0, z.head_dim - 1)
                 : feature;
    s.folded_scores = Func("folded_scores");
    s.folded_scores(f, j, r, t, b) += s.q_rows(of_query, r, t) * s.k_rows(feature, j, b);
    s.scores = Func("scores");
    s.scores(r, j, t, b) = sum_across_lanes(s)(j % z.key_lanes, j / z.key_lanes, r, t, b);
}

void find_maximum_along_lanes(Stages &s, const Visible &visible) {
    s.lane_max = Func("lane_max");
    s.block_max = Func("block_max");
    join_keys(
        s, visible, s.lane_max, s.block_max, s.masked, least_score,
        [](const Expr &x, const Expr &y) { return max(x, y); }, &s.max_j);
}

void sum_along_lanes(Stages &s, const Visible &visible) {
    s.lane_sum = Func("lane_sum");
    join_keys(
        s, visible, s.lane_sum, s.block_sum, s.weights, 0.0f, [](const Expr &x, const Expr &y) { return x + y; },
        &s.sum_j);
}

} // namespace gyre::attention
