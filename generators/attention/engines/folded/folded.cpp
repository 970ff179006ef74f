#include "folded.h"

#include "math/halves.h"
#include "passes/instructions/neighbour_sums.h"

namespace gyre::attention {
using namespace Halide;

void Folded::define_scores(const Inputs &in) {
    if (facts.across) return define_scores_across_lanes(in);
    const Var &r = s.r, &t = s.t, &f = s.f, c("c");
    s.q_folded = Func("q_folded");
    s.q_folded(f, r, c, t) = s.q_scaled(r, c * k.fold + f, t);
    define_folded_scores(s, k.fold, k.key_vector, [&](const Expr &n) { return s.q_folded(f, r, n, t); });
}

void Folded::define_scores_across_lanes(const Inputs &in) {
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f, g("g");
    const int w = k.lanes, rows = s.sizes.row_tile, keys = w / rows;
    k_features = in.head_dim;
    v_features = in.v_head_dim;
    RDom features(0, s.sizes.head_dim / w, "features");
    if (s.sizes.padded) features.where(features < in.head_dim / w);
    s.feature = features;
    s.folded_scores = Func("folded_scores");
    const Expr feature = features * w + f;
    s.folded_scores(f, r, j, t, b) += s.q_rows(feature, r, t) * s.operands.k_rows(feature, j, b);
    if (s.sizes.padded) { // the features after the last whole vector, with those before them taken for 0
        RDom rest(0, 1, "rest");
        rest.where(rest < in.head_dim % w);
        const Expr last = in.head_dim - w + rest + f;
        const Expr key = select(last >= in.head_dim / w * w, s.operands.k_rows(last, j, b), 0.0f);
        s.folded_scores(f, r, j, t, b) += s.q_rows(unsafe_promise_clamped(last, 0, s.sizes.head_dim - 1), r, t) * key;
    }
    s.across = sum_across_lanes(w, {g, t, b}, [&](const Expr &lane, const Expr &v) {
        return s.folded_scores(lane, v % rows, g * keys + v / rows, t, b);
    });
    s.scores = Func("scores");
    s.scores(r, j, t, b) = s.across.sums.back()(r + rows * (j % keys), 0, j / keys, t, b);
}

void Folded::define_sum(const Visible &visible) {
    if (!joins_keys()) return RowVectors::define_sum(visible);
    RDom groups(0, s.sizes.key_block / weighed_keys, "summed");
    groups.where(visible.in_sight(s.b * s.sizes.key_block + groups * weighed_keys, weighed_keys));
    s.sum_j = groups;
    // Vectors that hold several keys are summed first, then their parts.
    const int keys = keys_in_vector();
    const Var &l = s.l, &r = s.r, &t = s.t, &b = s.b;
    std::vector<Expr> vectors, parts;
    for (int n = 0; n < weighed_keys; n += keys) vectors.push_back(sum_weight(groups * weighed_keys + n + l));
    s.lane_sums = Func("lane_sums");
    s.lane_sums(r, l, t, b) += sum_in_halves(vectors);
    for (int n = 0; n < keys; n++) parts.push_back(s.lane_sums(r, n, t, b));
    s.block_sum(r, t, b) = sum_in_halves(parts);
}

void Folded::define_product_of_values(const Inputs &, const Visible &visible) {
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d;
    s.weighted_rows = Func("weighted_rows");
    const RDom keys = keys_in_sight(visible, "keys");
    s.value_j = keys;
    s.weighted_rows(d, r, t, b) += value_weight(keys) * s.operands.v_rows(d, keys, b);
    guard(s.weighted_rows, visible, {r, d});
    s.weighted_lanes = transpose(s.weighted_rows, s.sizes.lanes, "weighted_lanes", true);
    s.weighted(r, d, t, b) = s.weighted_lanes.out(r, d, t, b);
}

void Folded::lower(const Lowering &lowering) const {
    RowVectors::lower(lowering);
    if (!facts.across) take_neighbours_from_one_load(lowering.generator);
    if (!asks_for_blocks()) return;
    if (in_whole_vectors()) return ask_for_rows(s, lowering, {k.key_unroll, k.lanes, k_features, v_features});
    const Sizes &z = s.sizes;
    const int features = facts.across ? k.lanes : k.fold * joined_turns(); // of a turn
    ask_for_blocks(s, lowering, {z.key_block / k.key_unroll, z.head_dim / features, z.key_block, k.lanes});
}

} // namespace gyre::attention
