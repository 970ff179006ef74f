#include "key_lanes.h"

#include "math/bf16_pairs.h"
#include "passes/instructions/neighbour_pairs.h"

namespace gyre::attention {
using namespace Halide;

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

Expr KeyLanes::of_pair(const Func &rows, const Expr &first, const Expr &lane, const Expr &which,
                       const Expr &key) const {
    const Expr feature = first + 2 * lane;
    return bf16_of_pair(neighbour_pair(OperandStages::at(rows, feature, key, s.b, s.t),
                                       OperandStages::at(rows, feature + 1, key, s.b, s.t)),
                        which);
}

void KeyLanes::define_queries(const Inputs &in) {
    const Sizes &z = s.sizes;
    if (facts.in_pairs) {
        s.q_placed = Func("q_placed");
        s.q_placed(s.d, s.r, s.t) = s.q_rows(pairs.feature(s.d), s.r, s.t);
    }
    const int together = k.lanes * z.feature_chunk;
    k_features = in.head_dim;
    v_features = in.v_head_dim;
    rows_alike = in.k.slot_stride == in.v.slot_stride && in.k.page_stride == in.v.page_stride;
    s.feature_groups = z.v_head_dim / together;
    if (z.padded)
        s.feature_groups =
            unsafe_promise_clamped((in.v_head_dim + (together - 1)) / together, 1, z.v_head_dim / together);
}

void KeyLanes::define_scores_across_lanes(const Inputs &in) {
    const Sizes &z = s.sizes;
    const Func &k_rows = s.operands.k_rows;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f;
    const int n = k.lanes;
    if (facts.spreads) define_spread(in);
    const Expr stored = facts.spreads ? key_of_place(j) : Expr(j); // the key of place j
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

} // namespace gyre::attention
