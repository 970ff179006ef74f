#include "folded_pairs.h"

#include "math/bf16_pairs.h"
#include "math/halves.h"
#include "passes/instructions/bf16_dot.h"
#include "passes/instructions/neighbour_pairs.h"

namespace gyre::attention {
using namespace Halide;

/// A vector of neighbouring features is read as one of pairs. Two of them, of neighbouring keys, become the pairs of even features and those of odd
/// features. LLVM makes one shuffle of each.
void FoldedPairs::define_operands(const Inputs &) {
    const Var &j = s.j, &c = s.c, &b = s.b, &d = s.d;
    const Func &k_rows = s.operands.k_rows, &v_rows = s.operands.v_rows;
    s.k_pairs = Func("k_pairs");
    s.k_pairs(c, j, b) = neighbour_pair(k_rows(c * 2, j, b), k_rows(c * 2 + 1, j, b));
    const int lanes = bf16_dot_lanes, both = 2 * lanes;
    const Expr even = d / both * both + d % lanes * 2;
    const Expr first = neighbour_pair(v_rows(even, c * 2, b), v_rows(even + 1, c * 2, b));
    const Expr second = neighbour_pair(v_rows(even, c * 2 + 1, b), v_rows(even + 1, c * 2 + 1, b));
    const Expr low = Expr(0xffffu), high = Expr(0xffff0000u);
    s.value_pairs = Func("value_pairs");
    s.value_pairs(d, c, b) =
        select(d / lanes % 2 == 0, (first & low) | (second << 16), (first >> 16) | (second & high));
}

void FoldedPairs::define_scores(const Inputs &in) {
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f, c("c");
    s.q_folded = Func("q_folded");
    s.q_folded(f, r, c, t) = s.q_scaled(r, c * k.fold + f, t);
    RDom features(0, s.sizes.head_dim / (2 * k.fold), "features");
    s.feature = features;
    s.folded_scores = Func("folded_scores");
    s.folded_scores(f, r, j, t, b) = 0.0f;
    s.folded_scores(f, r, j, t, b) =
        bf16_dot(s.folded_scores(f, r, j, t, b), s.q_folded(f, r, features, t), s.k_pairs(features * k.fold + f, j, b));
    Expr sum = s.folded_scores(0, r, j, t, b);
    for (int n = 1; n < k.fold; n++) sum += s.folded_scores(n, r, j, t, b);
    s.scores = Func("scores");
    s.scores(r, j, t, b) = sum * in.scale;
}

void FoldedPairs::define_product_of_values(const Inputs &, const Visible &visible) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d, &c = s.c;
    constexpr int together = FoldedPairStages::weighed_pairs, keys = FoldedPairStages::weighed_keys;
    const int groups = z.key_block / keys;
    const auto in_sight = [&](const Expr &group) { return visible.in_sight(b * z.key_block + group * keys, keys); };

    RDom weighed(0, groups, "weighed"), summed(0, groups, "summed");
    weighed.where(in_sight(weighed));
    summed.where(in_sight(summed));
    s.paired_group = weighed;
    s.sum_j = summed;
    std::vector<Expr> nothing(together, undef<uint32_t>()), of_group, sums;
    nothing.push_back(undef<float>());
    for (int n = 0; n < together; n++) {
        const Expr first = value_weight(weighed * keys + 2 * n), second = value_weight(weighed * keys + 2 * n + 1);
        of_group.push_back(bf16_pair_nonnegative(first, second));
        sums.push_back(first + second);
    }
    of_group.push_back(sum_in_halves(sums));
    s.weight_pairs = Func("weight_pairs");
    s.weight_pairs(r, c, t, b) = Tuple(nothing);
    s.weight_pairs(r, weighed, t, b) = Tuple(of_group);
    s.block_sum(r, t, b) += s.weight_pairs(r, summed, t, b)[together];

    s.weighted_rows = Func("weighted_rows");
    sum_value_pairs(s, s.weighted_rows, {d, r, t, b}, s.weight_pairs, s.value_pairs, {groups, together, in_sight});
    s.weighted_lanes = transpose(s.weighted_rows, z.lanes, "weighted_lanes", true);
    s.weighted(r, d, t, b) = s.weighted_lanes.out(r, PairsOfVectors{bf16_dot_lanes}.place(d), t, b);
}

} // namespace gyre::attention
