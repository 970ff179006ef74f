#include "attention_products.h"

#include "../common/transcendental.h"

namespace gyre::attention {
using namespace Halide;

void define_query_operands(Stages &s, const Expr &scale) {
    if (s.sizes.tile_depth > 0) return define_tile_query_operands(s, scale);
    const Var &r = s.r, &t = s.t, &d = s.d;
    s.q_lanes = transpose(s.q_rows, s.sizes.lanes, "q_lanes");
    s.q_scaled = Func("q_scaled");
    s.q_scaled(r, d, t) = s.q_lanes.out(r, d, t) * scale;
}

void define_scores(Stages &s) {
    if (s.sizes.tile_depth > 0) return define_tile_scores(s);
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    const bool few_rows = z.fold > 0;
    RDom features(0, few_rows ? z.head_dim / z.fold : z.head_dim, "features");
    s.feature = features;
    s.scores = Func("scores");
    if (!few_rows) {
        s.scores(r, j, t, b) += s.q_scaled(r, features, t) * s.k_rows(features, j, b);
        return;
    }
    const Var &f = s.f, c("c");
    s.q_folded = Func("q_folded");
    s.q_folded(f, r, c, t) = s.q_scaled(r, c * z.fold + f, t);
    s.folded_scores = Func("folded_scores");
    s.folded_scores(f, r, j, t, b) += s.q_folded(f, r, features, t) * s.k_rows(features * z.fold + f, j, b);
    Expr sum = s.folded_scores(0, r, j, t, b);
    for (int n = 1; n < z.fold; n++) sum += s.folded_scores(n, r, j, t, b);
    s.scores(r, j, t, b) = sum;
}

void define_weighted_values(Stages &s, const Expr &v_scale, const Visible &visible, const Expr &magnitude) {
    if (s.sizes.tile_depth > 0) return define_tile_weighted_values(s, visible, magnitude);
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &d = s.d;
    s.weights = Func("weights");
    s.block_sum = Func("block_sum");
    s.weighted = Func("weighted");
    s.weights(r, j, t, b) = exp2_nonpositive(s.masked(r, j, t, b) - s.block_max(r, t, b));
    s.value_weights = s.weights;
    if (v_scale.defined()) {
        s.value_weights = Func("value_weights");
        s.value_weights(r, j, t, b) = s.weights(r, j, t, b) * v_scale;
    }
    RDom sum_keys(0, z.key_block, "sum_keys"), keys(0, z.key_block, "keys");
    for (RDom *domain : {&sum_keys, &keys}) domain->where(b * z.key_block + *domain <= visible.tile_last);
    s.sum_j = sum_keys, s.value_j = keys;
    s.block_sum(r, t, b) += s.weights(r, sum_keys, t, b);
    if (z.fold > 0) {
        s.weighted_rows = Func("weighted_rows");
        if (z.lanes_along_features) { // a block that is computed has a first key
            RDom more(1, z.key_block - 1, "more");
            more.where(b * z.key_block + more <= visible.tile_last);
            s.value_j = more;
            s.weighted_rows(d, r, t, b) = s.value_weights(r, 0, t, b) * s.v_rows(d, 0, b);
            s.weighted_rows(d, r, t, b) += s.value_weights(r, more, t, b) * s.v_rows(d, more, b);
        } else {
            s.weighted_rows(d, r, t, b) += s.value_weights(r, keys, t, b) * s.v_rows(d, keys, b);
        }
        s.weighted_lanes = transpose(s.weighted_rows, z.lanes, "weighted_lanes");
        s.weighted(r, d, t, b) = s.weighted_lanes.out(r, d, t, b);
    } else {
        s.weighted(r, d, t, b) += s.value_weights(r, keys, t, b) * s.v_rows(d, keys, b);
    }
}

} // namespace gyre::attention
