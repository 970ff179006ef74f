/// Scores of keys whose features are along the lanes: products of vectors, each of which is summed across its lanes.
#include "key_lanes.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int narrow_lanes = 4; // on most machines so few keys in a step are not worth code for each

} // namespace

bool KeyLanes::has_code_for_each_key() const { return k.lanes > narrow_lanes || facts.narrow_keys_inside; }

bool KeyLanes::takes_keys_inside() const {
    const bool asks_in_turns = facts.asks_ahead && !facts.one_row_reads_values;
    return (asks_in_turns || s.sizes.padded) && has_code_for_each_key();
}

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

void KeyLanes::define_scores_across_lanes(const Inputs &in) {
    const Sizes &z = s.sizes;
    const Func &k_rows = s.operands.k_rows;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f;
    const int n = k.lanes;
    if (spreads()) define_spread(in);
    const Expr stored = spreads() ? key_of_place(j) : Expr(j); // the key of place j
    s.folded_scores = Func("folded_scores");
    if (facts.in_pairs) {
        RDom features(0, 2, 0, z.head_dim / (2 * n), "features");
        s.feature_within = features.x;
        s.feature = features.y;
        const Expr first = features.y * (2 * n);
        s.folded_scores(f, j, r, t, b) +=
            s.q_placed(first + features.x * n + f, r, t) * of_pair(k_rows, first, f, features.x, stored);
    } else {
        RDom features(0, z.head_dim / n, "features");
        if (z.padded) features.where(features < in.head_dim / n);
        s.feature = features;
        s.folded_scores(f, j, r, t, b) +=
            s.q_rows(features * n + f, r, t) * OperandStages::at(k_rows, features * n + f, stored, b, t);
    }
    if (z.padded) { // the features after the last whole vector, with those before them taken for 0
        RDom rest(0, 1, "rest");
        rest.where(rest < in.head_dim % n);
        const Expr feature = in.head_dim - n + rest + f;
        const Expr key = select(feature >= in.head_dim / n * n, OperandStages::at(k_rows, feature, stored, b, t), 0.0f);
        const Expr of_query = unsafe_promise_clamped(feature, 0, z.head_dim - 1);
        s.folded_scores(f, j, r, t, b) += s.q_rows(of_query, r, t) * key;
    }
    s.scores = Func("scores");
    s.scores(r, j, t, b) = sum_across_lanes()(j % n, j / n, r, t, b);
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
    if (has_code_for_each_key()) products.unroll(s.j);
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

} // namespace gyre::attention
