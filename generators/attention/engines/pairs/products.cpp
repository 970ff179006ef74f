// Both products by dot products of bf16 pairs (passes/bf16_dot.h): a pair of neighbouring features of a key, or of one feature's
// values of neighbouring keys, is a scalar that multiplies a vector of pairs of queries or weights. Queries are not scaled, so that
// what is not rotated is not rounded; the scale is applied to the scores in f32.
#include "attention/engines/vectors/products.h"
#include "attention/recurrence/guard.h"
#include "math/bf16_pairs.h"
#include "passes/bf16_dot.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// All bits of a pair, or none of those of its numbers whose key is masked.
Expr seen_bits(const Stages &s, const Expr &pair) {
    const auto bits_unless_masked = [&](const Expr &key, uint32_t bits) {
        return select(is_masked(s.masked(s.r, key, s.t, s.b)), Expr(0u), Expr(bits));
    };
    return bits_unless_masked(pair * 2, 0xffffu) | bits_unless_masked(pair * 2 + 1, 0xffff0000u);
}

} // namespace

void define_pair_queries(Stages &s) {
    const Var &r = s.r, &t = s.t, &c = s.c;
    s.q_lanes = transpose(s.q_rows, s.sizes.lanes, "q_lanes");
    s.q_scaled = Func("q_scaled");
    s.q_scaled(r, c, t) = bf16_pair(s.q_lanes.out(r, c * 2, t), s.q_lanes.out(r, c * 2 + 1, t));
}

void define_pair_keys_and_values(Stages &s) {
    const Var &j = s.j, &c = s.c, &b = s.b, &d = s.d;
    s.k_pairs = Func("k_pairs"), s.v_pairs = Func("v_pairs");
    s.k_pairs(c, j, b) = pair_of_bits(s.k_rows(c * 2, j, b), s.k_rows(c * 2 + 1, j, b));
    s.v_pairs(d, c, b) = pair_of_bits(s.v_rows(d, c * 2, b), s.v_rows(d, c * 2 + 1, b));
}

void define_pair_scores(Stages &s, const Expr &scale) {
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    RDom features(0, s.sizes.head_dim / 2, "features");
    s.feature = features;
    s.score_sums = Func("score_sums");
    s.score_sums(r, j, t, b) = 0.0f;
    s.score_sums(r, j, t, b) =
        bf16_dot(s.score_sums(r, j, t, b), s.q_scaled(r, features, t), s.k_pairs(features, j, b));
    s.scores = Func("scores");
    s.scores(r, j, t, b) = s.score_sums(r, j, t, b) * scale;
}

void define_pair_weighted_values(Stages &s, const Visible &visible, const PairWeights &weight) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d, &c = s.c;
    constexpr int together = Stages::weighed_pairs, keys = 2 * together;
    const int groups = z.key_block / keys;
    const auto in_sight = [&](const Expr &group) { return b * z.key_block + group * keys <= visible.tile_last; };

    RDom weighed(0, groups, "weighed"), summed(0, groups, "summed");
    weighed.where(in_sight(weighed));
    summed.where(in_sight(summed));
    s.weight_j = weighed;
    s.sum_j = summed;
    std::vector<Expr> nothing(together, undef<uint32_t>()), pairs;
    nothing.push_back(undef<float>());
    Expr sum = 0.0f;
    for (int n = 0; n < together; n++) {
        const Expr first = weighed * keys + 2 * n, second = first + 1;
        pairs.push_back(bf16_pair(weight.of_value(first), weight.of_value(second)));
        sum += weight.of_sum(first) + weight.of_sum(second);
    }
    pairs.push_back(sum);
    s.weight_pairs = Func("weight_pairs");
    s.weight_pairs(r, c, t, b) = Tuple(nothing);
    s.weight_pairs(r, weighed, t, b) = Tuple(pairs);
    s.block_sum(r, t, b) += s.weight_pairs(r, summed, t, b)[together];

    // `seen`: of a pair's bits those that count.
    const auto add = [&](const Expr &group, const std::function<Expr(const Expr &pair)> &seen) {
        Expr total = s.weighted(r, d, t, b);
        for (int n = 0; n < together; n++) {
            const Expr pair = group * together + n, values = s.v_pairs(d, pair, b);
            total = bf16_dot(total, s.weight_pairs(r, group, t, b)[n], seen ? values & seen(pair) : values);
        }
        s.weighted(r, d, t, b) = total;
    };
    RDom all(0, groups, "groups"), again(0, 1, "again"), guarded(0, groups, 0, 1, "guarded_groups");
    all.where(in_sight(all));
    s.value_j = all;
    s.weighted(r, d, t, b) = 0.0f;
    add(all, {});
    // Guarded blocks are summed again, without what a row does not see: recurrence/guard.h.
    again.where(again < s.guarded(b));
    guarded.where(in_sight(guarded.x));
    guarded.where(guarded.y < s.guarded(b));
    s.guarded_j = guarded.x;
    s.guarded_turn = guarded.y;
    s.weighted(r, d, t, b) = cast<float>(again);
    add(guarded.x, [&](const Expr &pair) { return seen_bits(s, pair); });
}

} // namespace gyre::attention
