#include "products.h"

#include "attention/engines/key_lanes/products.h"
#include "attention/recurrence/blocks.h"
#include "attention/recurrence/guard.h"
#include "math/transcendental.h"

namespace gyre::attention {
using namespace Halide;

namespace {

/// Of all keys of a block, or of as many groups of keys as some row sees.
void define_weights(Stages &s, const Visible &visible) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    s.weights = Func("weights");
    const auto weights_of = [&](const Expr &key) -> std::vector<Expr> {
        const Expr below = s.masked(r, key, t, b) - s.block_max(r, t, b);
        const Expr power = z.nan_without_sign ? exp2_nonpositive_by_bits(below)
                           : z.matrices       ? exp2_nonpositive_bf16(below)
                                              : exp2_nonpositive(below);
        if (!s.key_scales.defined()) return {power};
        const Expr of_value = power * s.key_scales(key, t, b)[1]; // a masked key's scale may hold anything
        return {power, select(is_masked(s.masked(r, key, t, b)), 0.0f, of_value)};
    };
    if (z.weight_step == 0) {
        s.weights(r, j, t, b) = Tuple(weights_of(j));
        return;
    }
    RDom formed(0, z.weight_step, 0, z.key_block / z.weight_step, "weighed");
    formed.where(b * z.key_block + formed.y * z.weight_step <= visible.tile_last);
    const std::vector<Expr> weights = weights_of(formed.y * z.weight_step + formed.x);
    s.weights(r, j, t, b) = Tuple(std::vector<Expr>(weights.size(), undef<float>()));
    s.weights(r, formed.y * z.weight_step + formed.x, t, b) = Tuple(weights);
    s.weight_j = formed.x, s.weight_step = formed.y;
}

/// The words are those of the key's and the row's places among all, so blocks and tasks do not matter.
void define_kept(Stages &s, const Dropout &dropout) {
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    const Var group("group");
    const int groups_of_block = s.sizes.key_block / 4;
    const auto words = dropout_words(dropout, t * s.sizes.row_tile + r, b * groups_of_block + group);
    s.draws = Func("draws"), s.kept = Func("kept");
    s.draws(r, group, t, b) = Tuple(words[0], words[1], words[2], words[3]);
    const FuncRef drawn = s.draws(r, j / 4, t, b);
    const Expr word = mux(j % 4, {drawn[0], drawn[1], drawn[2], drawn[3]});
    s.kept(r, j, t, b) = select(word < dropout.threshold, 0.0f, s.weights(r, j, t, b));
}

} // namespace

void define_query_operands(Stages &s, const Expr &scale) {
    if (s.sizes.tile_depth > 0) return define_tile_query_operands(s, scale);
    if (s.sizes.integer_scores) return define_integer_query_operands(s);
    if (s.sizes.matrices) return define_matrix_queries(s);
    if (s.sizes.pairs) return define_pair_queries(s);
    if (s.sizes.scaled_rows) return;
    const Var &r = s.r, &t = s.t, &d = s.d;
    s.q_lanes = transpose(s.q_rows, s.sizes.lanes, "q_lanes");
    s.q_scaled = Func("q_scaled");
    s.q_scaled(r, d, t) = s.q_lanes.out(r, d, t) * scale;
}

void define_scores(Stages &s, const Expr &scale) {
    if (s.sizes.tile_depth > 0) return define_tile_scores(s);
    if (s.sizes.integer_scores) return define_integer_scores(s, scale);
    if (s.sizes.matrices) return define_matrix_scores(s, scale);
    if (s.sizes.pairs) return define_pair_scores(s, scale);
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
    const Expr feature = features * z.fold + f;
    if (!z.scaled_rows) {
        s.q_folded = Func("q_folded");
        s.q_folded(f, r, c, t) = s.q_scaled(r, c * z.fold + f, t);
    }
    const Expr query = z.scaled_rows ? s.q_rows(feature, r, t) : s.q_folded(f, r, features, t);
    s.folded_scores = Func("folded_scores");
    s.folded_scores(f, r, j, t, b) += query * s.k_rows(feature, j, b);
    Expr sum = s.folded_scores(0, r, j, t, b);
    for (int n = 1; n < z.fold; n++) sum += s.folded_scores(n, r, j, t, b);
    s.scores(r, j, t, b) = sum;
}

void define_weighted_values(Stages &s, const Inputs &in, const Visible &visible) {
    const Expr magnitude = magnitude_of(in.scale);
    if (s.sizes.tile_depth > 0) return define_tile_weighted_values(s, visible, magnitude);
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &d = s.d;
    define_weights(s, visible);
    if (z.dropout) define_kept(s, in.dropout);
    s.block_sum = Func("block_sum");
    s.weighted = Func("weighted");
    const auto weight_of = [&](const Expr &key, int of_value) -> Expr {
        const FuncRef both = s.weights(r, key, t, b);
        return s.key_scales.defined() ? Expr(both[of_value]) : Expr(both);
    };
    const auto value_weight = [&](const Expr &key) -> Expr {
        return z.dropout ? Expr(s.kept(r, key, t, b)) : weight_of(key, 1);
    };
    RDom sum_keys(0, z.key_block, "sum_keys"), keys(0, z.key_block, "keys");
    if (z.key_lanes) {
        sum_along_lanes(s, visible);
    } else if (!z.pairs) {
        sum_keys.where(b * z.key_block + sum_keys <= visible.tile_last);
        s.sum_j = sum_keys;
        s.block_sum(r, t, b) += weight_of(sum_keys, 0);
    }
    const bool may_be_guarded = !s.key_scales.defined(); // integers are finite
    if (may_be_guarded) define_guarded(s, in);
    if (z.matrices) return define_matrix_weighted_values(s, visible);
    if (z.pairs)
        return define_pair_weighted_values(s, visible,
                                           {[&](const Expr &key) { return weight_of(key, 0); }, value_weight});
    const auto limit_keys = [&] {
        keys.where(b * z.key_block + keys <= visible.tile_last);
        s.value_j = keys;
    };
    const auto guard = [&](Func product) {
        if (may_be_guarded) define_guarded_product(s, product, visible, value_weight);
    };
    if (z.fold > 0) {
        s.weighted_rows = Func("weighted_rows");
        if (z.lanes_along_features) { // a block that is computed has a first key
            keys = RDom(1, z.key_block - 1, "more");
            s.weighted_rows(d, r, t, b) = value_weight(0) * s.v_rows(d, 0, b);
        }
        limit_keys();
        s.weighted_rows(d, r, t, b) += value_weight(keys) * s.v_rows(d, keys, b);
        guard(s.weighted_rows);
        s.weighted_lanes = transpose(s.weighted_rows, z.lanes, "weighted_lanes");
        s.weighted(r, d, t, b) = s.weighted_lanes.out(r, d, t, b);
    } else {
        limit_keys();
        s.weighted(r, d, t, b) += value_weight(keys) * s.v_rows(d, keys, b);
        guard(s.weighted);
    }
}

} // namespace gyre::attention
