#include "folded.h"

namespace gyre::attention {
using namespace Halide;

void Folded::define_scores(const Inputs &) {
    const Var &r = s.r, &t = s.t, &f = s.f, c("c");
    s.q_folded = Func("q_folded");
    s.q_folded(f, r, c, t) = s.q_scaled(r, c * k.fold + f, t);
    define_folded_scores(s, k.fold, k.key_vector, [&](const Expr &n) { return s.q_folded(f, r, n, t); });
}

void Folded::define_product_of_values(const Inputs &, const Visible &visible) {
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d;
    s.weighted_rows = Func("weighted_rows");
    const RDom keys = keys_in_sight(visible, "keys");
    s.value_j = keys;
    s.weighted_rows(d, r, t, b) += value_weight(keys) * s.operands.v_rows(d, keys, b);
    guard(s.weighted_rows, visible, {r, d});
    s.weighted_lanes = transpose(s.weighted_rows, s.sizes.lanes, "weighted_lanes");
    s.weighted(r, d, t, b) = s.weighted_lanes.out(r, d, t, b);
}

void Folded::lower(const Lowering &lowering) const {
    RowVectors::lower(lowering);
    const Sizes &z = s.sizes;
    if (asks_ahead && provider->reads_in_place())
        ask_for_blocks(s, lowering, {z.key_block / k.key_unroll, z.head_dim / k.fold, z.key_block});
}

} // namespace gyre::attention
