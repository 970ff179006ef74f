// Scores and weighted values on matrix tiles of bf16.
#include "math/bf16_pairs.h"
#include "math/storage.h"
#include "passes/instructions/tile_products.h"
#include "terms.h"
#include "tiles.h"

#include <functional>

namespace gyre::attention {
using namespace Halide;

/// A value in blocks, from `values` (key, feature, b): after the last feature ones, as numbers where they are summed beside the weighted
/// values and else as a tile.
Expr Tiles::stored_value(const Func &values, const Expr &key, const Expr &feature) const {
    const int features = s.sizes.v_head_dim;
    const Expr bits = values(key, unsafe_promise_clamped(feature, 0, features - 1), s.b);
    const Expr one = sums_columns()
                         ? Expr(1.0f)
                         : bf16_of_pair(s.operands.v_ones(key % tile_depth / 2, feature % tile_rows), key % 2);
    return select(feature < features, widen(reinterpret(BFloat(16), bits)), one);
}

/// A packed value of a key of a step: after the last feature ones, as in stored_value().
Expr Tiles::packed_value(const Expr &key, const Expr &step, const Expr &feature, const Expr &term) const {
    const int features = s.sizes.v_head_dim;
    const auto value = [&](const Expr &of) {
        const Expr pair = step * (tile_depth / 2) + key / 2;
        return bf16_of_pair(facts.weighs_rows ? s.v_packed(of, pair, term, s.b) : s.v_packed(pair, of, term, s.b),
                            key % 2);
    };
    if (!sums_columns()) return value(feature);
    return select(feature < features, value(unsafe_promise_clamped(feature, 0, features - 1)), 1.0f);
}

/// True if tiles take the keys of a block from where they are: they are in one page, and the block has no row past the last key.
Expr Tiles::has_keys_in_place(const Expr &block, const Expr &keys) const {
    return pages == 1 && block * s.sizes.key_block + s.sizes.key_block <= keys;
}

void Tiles::define_scores_in_place(const Inputs &in) {
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &d = s.d;
    pages = in.pages.count;
    s.k_copied = Func("k_copied");
    s.k_copied(d, j, b) = s.operands.k_rows(d, j, b);
    const Expr in_place = has_keys_in_place(b, in.keys);
    const auto product_with = [&](const RDom &features, const std::function<Expr(const Expr &feature)> &key_bits) {
        const Expr feature = features.y * tile_depth + features.x;
        const Expr query = s.q_scaled(r, features.y * (tile_depth / 2) + features.x / 2, 0, t);
        s.scores(r, j, t, b) += bf16_of_pair(query, features.x % 2) * widen(reinterpret(BFloat(16), key_bits(feature)));
    };
    RDom features(0, tile_depth, 0, s.k_features / tile_depth, "features");
    features.where(in_place);
    const Expr row = s.operands.k_offsets(0, b) + j * in.k.slot_stride;
    product_with(features, [&](const Expr &feature) {
        return reinterpret<uint16_t>(in.k.elements(feature, unsafe_promise_clamped(row, 0, in.k.size - 1)));
    });
    RDom copied(0, tile_depth, 0, s.k_features / tile_depth, "copied_features");
    copied.where(!in_place);
    product_with(copied, [&](const Expr &feature) { return s.k_copied(feature, j, b); });
    s.feature = features.x;
    s.feature_tile = features.y;
    s.copied_feature = copied.x;
    s.copied_feature_tile = copied.y;
}

void Tiles::define_scores(const Inputs &in) {
    s.scores = Func("scores");
    if (facts.in_place) return define_scores_in_place(in);
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    // In f16 scores take all products of terms, since a score may be large, and then a small part of it counts. Values leave out
    // the smallest, as their sums are rounded to f16 again.
    const auto products = products_of_terms(facts.terms, 2);
    RDom features(0, tile_depth, 0, s.k_features / tile_depth, 0, static_cast<int>(products.size()), "features");
    s.feature = features.x;
    s.feature_tile = features.y;
    s.score_product = features.z;
    const Expr feature = features.y * tile_depth + features.x;
    const auto [q_term, k_term] = terms_of_product(features.z, products);
    const Expr key_bits = facts.terms > 1 ? s.k_terms(feature, j, k_term, b) : s.operands.k_rows(feature, j, b);
    s.scores(r, j, t, b) +=
        bf16_of_pair(s.q_scaled(r, features.y * (tile_depth / 2) + features.x / 2, q_term, t), features.x % 2) *
        widen(reinterpret(BFloat(16), key_bits));
}

void Tiles::define_weighted_values(const Inputs &in, const Visible &visible) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d;
    s.weights = Func("weights");
    s.block_sum = Func("block_sum");
    s.weighted = Func("weighted");
    if (bounded)
        define_bounded_weights(in, visible);
    else
        define_weights(in, visible);
    if (facts.weighs_rows) {
        s.weight_lanes = transpose(s.weights, z.lanes, "weight_lanes");
        s.weight_rows = Func("weight_rows");
        s.weight_rows(s.c, r, s.p, s.step, t, b) = s.weight_lanes.out(s.c, r, s.p, s.step, t, b);
    }
    const auto weight = [&](const Expr &key, const Expr &term, const Expr &step) {
        return bf16_of_pair(facts.weighs_rows ? s.weight_rows(key / 2, r, term, step, t, b)
                                              : s.weights(r, key / 2, term, step, t, b),
                            key % 2);
    };
    const auto seen = [&](const Expr &step) {
        return visible.in_sight(b * z.key_block + step * tile_depth, tile_depth);
    };
    const auto weigh = [&](const Func &product, RDom &keys, const Expr &feature,
                           const std::vector<std::pair<int, int>> &of_terms, RVar &key, RVar &of, RVar &step) {
        keys.where(seen(keys.z));
        key = keys.x;
        of = keys.y;
        step = keys.z;
        const auto [weight_term, value_term] = terms_of_product(keys.y, of_terms);
        const Expr value = provider->has_value_blocks()
                               ? stored_value(s.operands.v_rows, keys.z * tile_depth + keys.x, feature)
                               : packed_value(keys.x, keys.z, feature, value_term);
        if (facts.weighs_rows)
            product(d, r, t, b) += weight(keys.x, weight_term, keys.z) * value;
        else
            product(r, d, t, b) += weight(keys.x, weight_term, keys.z) * value;
    };
    const auto keys_of_block = [&](const std::vector<std::pair<int, int>> &of_terms, const std::string &name) {
        return RDom(0, tile_depth, 0, static_cast<int>(of_terms.size()), 0, z.key_block / tile_depth, name);
    };
    const auto products = products_of_terms(facts.terms, facts.terms - 1);
    RDom keys = keys_of_block(products, "keys");
    if (s.v_copied.defined()) keys.where(keys.z < s.first_copied(b));
    if (facts.weighs_rows) {
        s.weighted_rows = Func("weighted_rows");
        weigh(s.weighted_rows, keys, d, products, s.value_j, s.value_product, s.value_step);
        s.weighted_lanes = transpose(s.weighted_rows, z.lanes, "weighted_lanes");
        s.weighted(r, d, t, b) = s.weighted_lanes.out(r, d, t, b);
        return;
    }
    weigh(s.weighted, keys, d, products, s.value_j, s.value_product, s.value_step);
    if (s.v_copied.defined()) {
        RDom rest(0, tile_depth, 0, z.key_block / tile_depth, "copied_keys");
        rest.where(rest.y >= s.first_copied(b) && seen(rest.y));
        s.copied_key = rest.x;
        s.copied_step = rest.y;
        s.weighted(r, d, t, b) += weight(rest.x, 0, rest.y) * stored_value(s.v_copied, rest.y * tile_depth + rest.x, d);
    }
    if (!bounded) return;
    if (facts.sum_with_values) {
        s.block_sum(r, t, b) = s.weighted(r, z.v_head_dim, t, b);
    } else {
        s.sums = Func("sums");
        std::vector<std::pair<int, int>> with_ones;
        for (int n = 0; n < facts.terms; n++) with_ones.emplace_back(n, 0);
        RDom sum_keys = keys_of_block(with_ones, "sum_keys");
        weigh(s.sums, sum_keys, z.v_head_dim + d, with_ones, s.sum_j, s.sum_product, s.sum_step);
        s.block_sum(r, t, b) = s.sums(r, 0, t, b);
    }
}

} // namespace gyre::attention
