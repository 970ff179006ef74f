#include "pairs.h"

#include "attention/recurrence/features.h"
#include "math/bf16_pairs.h"
#include "passes/instructions/bf16_dot.h"
#include "passes/instructions/bf16_roundings.h"

#include <numeric>

namespace gyre::attention {
using namespace Halide;

KeySteps Pairs::steps() const {
    constexpr int together = PairStages::weighed_keys;
    return steps_of_row_tile(std::lcm(k.key_unroll, together), together); // whole register tiles and groups of weights
}

void Pairs::lower(const Lowering &lowering) const {
    map_bf16_dots(lowering.generator);
    map_bf16_roundings(lowering.generator);
    RowVectors::lower(lowering);
}

void Pairs::define_operands(const Inputs &) {
    const Var &j = s.j, &c = s.c, &b = s.b, &d = s.d;
    s.k_pairs = Func("k_pairs");
    s.v_pairs = Func("v_pairs");
    s.k_pairs(c, j, b) = pair_of_bits(s.operands.k_rows(c * 2, j, b), s.operands.k_rows(c * 2 + 1, j, b));
    s.v_pairs(d, c, b) = pair_of_bits(s.operands.v_rows(d, c * 2, b), s.operands.v_rows(d, c * 2 + 1, b));
}

void Pairs::define_scores(const Inputs &in) {
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    const Expr count = s.sizes.padded ? features_in_steps(2, in.head_dim, s.sizes.head_dim) : s.k_features;
    RDom features(0, count / 2, "features");
    s.feature = features;
    s.score_sums = Func("score_sums");
    s.score_sums(r, j, t, b) = 0.0f;
    s.score_sums(r, j, t, b) =
        bf16_dot(s.score_sums(r, j, t, b), s.q_scaled(r, features, t), s.k_pairs(features, j, b));
    s.scores = Func("scores");
    s.scores(r, j, t, b) = s.score_sums(r, j, t, b) * in.scale;
}

void Pairs::define_product_of_values(const Inputs &, const Visible &visible) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d, &c = s.c;
    constexpr int together = PairStages::weighed_pairs, keys = PairStages::weighed_keys;
    const int groups = z.key_block / keys;
    const auto in_sight = [&](const Expr &group) {
        const Expr first_key = b * z.key_block + group * keys;
        return begins_with_seen() ? visible.in_sight(first_key, keys) : first_key <= visible.tile_last;
    };

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
        pairs.push_back(bf16_pair(value_weight(first), value_weight(second)));
        sum += sum_weight(first) + sum_weight(second);
    }
    pairs.push_back(sum);
    s.weight_pairs = Func("weight_pairs");
    s.weight_pairs(r, c, t, b) = Tuple(nothing);
    s.weight_pairs(r, weighed, t, b) = Tuple(pairs);
    s.block_sum(r, t, b) += s.weight_pairs(r, summed, t, b)[together];

    sum_value_pairs(s, s.weighted, {r, d, t, b}, s.weight_pairs, s.v_pairs, {groups, together, in_sight});
}

} // namespace gyre::attention
