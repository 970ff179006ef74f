// Operands, scores and weighted values on matrix tiles of bf16.
#include "tiles.h"

#include "math/bf16_pairs.h"
#include "math/storage.h"
#include "math/transcendental.h"
#include "passes/exp2_pairs.h"
#include "passes/tile_products.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// Of two numbers the term that `p` counts, as a pair; a number that is but one term is rounded.
Expr term_pair(const Expr &first, const Expr &second, const Expr &p, int terms) {
    if (terms == 1) return bf16_pair(first, second);
    std::vector<Expr> pairs;
    for (int n = 0; n < terms; n++) pairs.push_back(bf16_pair_of_terms(first, second, n, terms));
    return mux(p, pairs);
}

/// Which terms of both factors product `n` takes.
std::pair<Expr, Expr> terms_of_product(const Expr &n, const std::vector<std::pair<int, int>> &products) {
    std::vector<Expr> a, b;
    for (const auto &[first, second] : products) a.emplace_back(first), b.emplace_back(second);
    if (products.size() == 1) return {a[0], b[0]};
    return {mux(n, a), mux(n, b)};
}

} // namespace

/// A value in blocks, from `values` (key, feature, b): after the last feature ones.
Expr Tiles::stored_value(const Func &values, const Expr &key, const Expr &feature) const {
    const int features = s.sizes.v_head_dim;
    const Expr bits = values(key, unsafe_promise_clamped(feature, 0, features - 1), s.b);
    return select(feature < features, widen(reinterpret(BFloat(16), bits)),
                  bf16_of_pair(s.operands.v_ones(key % tile_depth / 2, feature % tile_rows), key % 2));
}

/// Powers of two in f32 and their sum, of steps that some row of the tile sees; weights are what tiles take of them.
void Tiles::define_weights(const Visible &visible, const Expr &magnitude) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &c = s.c, &t = s.t, &b = s.b;
    const int steps = z.key_block / tile_depth;
    const auto in_sight = [&](const Expr &step) {
        return visible.in_sight(b * z.key_block + step * tile_depth, tile_depth);
    };
    s.powers = Func("powers");
    s.powers(r, j, t, b) = undef<float>();
    RDom raised(0, tile_depth, 0, steps, "raised");
    raised.where(in_sight(raised.y));
    const Expr raised_key = raised.y * tile_depth + raised.x;
    s.powers(r, raised_key, t, b) =
        exp2_nonpositive((s.masked(r, raised_key, t, b) - s.block_max(r, t, b)) * magnitude);
    s.raised_key = raised.x;
    s.raised_step = raised.y;

    // A step sums a few keys, since each step waits for the one before, and fewer roundings add up.
    constexpr int at_once = 8;
    RDom summed(0, tile_depth / at_once, 0, steps, "summed");
    summed.where(in_sight(summed.y));
    std::vector<Expr> sums;
    for (int n = 0; n < at_once; n++) sums.push_back(s.powers(r, summed.y * tile_depth + summed.x * at_once + n, t, b));
    for (int count = at_once; count > 1; count /= 2)
        for (int n = 0; n < count / 2; n++) sums[n] = sums[n] + sums[n + count / 2];
    s.block_sum(r, t, b) = 0.0f;
    s.block_sum(r, t, b) += sums[0];
    s.sum_j = summed.x;
    s.sum_step = summed.y;

    const Expr key = s.step * tile_depth + 2 * c;
    const Expr first = s.powers(r, key, t, b), second = s.powers(r, key + 1, t, b);
    s.weights(r, c, s.p, s.step, t, b) =
        facts.terms > 1 ? term_pair(first, second, s.p, facts.terms) : bf16_pair_nonnegative(first, second);
}

/// Powers of the scores as they are; then those of keys that a row does not see become 0. Steps that no row of the tile
/// sees are left out; where weights are formed a step at a time, by who asks for them.
void Tiles::define_bounded_weights(const Visible &visible, const Expr &magnitude) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &c = s.c, &p = s.p, &t = s.t, &b = s.b;
    const auto first_key = [&](const Expr &step) { return b * z.key_block + step * tile_depth; };
    const auto weight = [&](const Expr &step) {
        const Expr key = step * tile_depth + 2 * c;
        return exp2_pair(s.masked(r, key, t, b) * magnitude, s.masked(r, key + 1, t, b) * magnitude);
    };
    const auto mask = [&](const Expr &pair, const Expr &step) {
        const Expr key = first_key(step) + 2 * pair;
        const auto kept = [&](const Expr &of, uint32_t bits) { return select(visible.sees(of), Expr(bits), Expr(0u)); };
        s.weights(r, pair, p, step, t, b) =
            s.weights(r, pair, p, step, t, b) & (kept(key, 0xffffu) | kept(key + 1, 0xffff0000u));
    };
    const int pairs = tile_depth / 2, steps = z.key_block / tile_depth;
    if (facts.sum_with_values) {
        s.weights(r, c, p, s.step, t, b) = weight(s.step);
        RDom edge(0, pairs, "edge_pairs");
        edge.where(visible.at_edge(first_key(s.step), tile_depth));
        mask(edge, s.step);
        s.edge_pair = edge;
    } else {
        s.weights(r, c, p, s.step, t, b) = undef<uint32_t>();
        RDom seen(0, steps, "steps"), edge(0, pairs, 0, steps, "edge_pairs");
        seen.where(visible.in_sight(first_key(seen), tile_depth));
        s.weights(r, c, p, seen, t, b) = weight(seen);
        edge.where(visible.at_edge(first_key(edge.y), tile_depth) && visible.in_sight(first_key(edge.y), tile_depth));
        mask(edge.x, edge.y);
        s.weight_step = seen, s.edge_pair = edge.x, s.edge_step = edge.y;
    }
}

// Queries and values in pairs of bf16 along the dimension that is summed over. Queries take only the scale's sign, which
// rounds nothing; its magnitude is applied to the scores in f32.
void Tiles::define_queries(const Inputs &in) {
    const Expr &scale = in.scale;
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &p = s.p, &c = s.c;
    const Expr sign = select(scale > 0.0f, 1.0f, scale < 0.0f, -1.0f, 0.0f);
    s.q_pairs = Func("q_pairs");
    s.q_pairs(c, r, p, t) = term_pair(s.q_rows(2 * c, r, t) * sign, s.q_rows(2 * c + 1, r, t) * sign, p, facts.terms);
    s.q_lanes = transpose(s.q_pairs, z.lanes, "q_lanes");
    s.q_scaled = Func("q_scaled");
    s.q_scaled(r, c, p, t) = s.q_lanes.out(r, c, p, t);
    if (!provider->is_finite()) define_cleaned(in);
}

void Tiles::define_operands(const Inputs &in) {
    if (provider->has_value_blocks())
        copy_values(in);
    else
        pack_keys_and_values();
}

/// Steps that tiles do not take from where they are: those with slots that hold no key, where the last key is repeated, since a
/// weight of 0 times whatever they hold need not be 0; and all steps of cleaned tasks.
void Tiles::copy_values(const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &b = s.b, &d = s.d;
    const Expr held = provider->held_value(s, in, j % tile_depth, d, j / tile_depth);
    if (!held.defined()) return;
    s.first_copied = Func("first_copied");
    s.first_copied(b) = select(s.cleaned() != 0, 0, max(in.keys - b * z.key_block, 0) / tile_depth);
    s.v_copied = Func("v_copied");
    s.v_copied(j, d, b) = select(s.cleaned() != 0, finite_number(held), held);
}

void Tiles::pack_keys_and_values() {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &b = s.b, &d = s.d, &p = s.p, &c = s.c;
    if (facts.terms > 1) {
        std::vector<Expr> terms;
        for (int n = 0; n < facts.terms; n++)
            terms.push_back(cast<uint16_t>(bf16_term(s.operands.k_rows(d, j, b), n, facts.terms) >> 16));
        s.k_terms = Func("k_terms");
        s.k_terms(d, j, p, b) = mux(p, terms);
    }

    const Expr first = s.operands.v_rows(d, 2 * c, b), second = s.operands.v_rows(d, 2 * c + 1, b);
    s.v_pairs = Func("v_pairs");
    s.v_pairs(d, c, p, b) = facts.terms > 1 ? term_pair(first, second, p, facts.terms)
                                            : cast<uint32_t>(first) | (cast<uint32_t>(second) << 16);
    s.v_lanes = transpose(s.v_pairs, z.lanes, "v_lanes");
    // Further features that are all 1: their weighted sum is the sum of the weights, as they were rounded, formed beside
    // the vector units.
    s.v_packed = Func("v_packed");
    s.v_packed(c, d, p, b) = undef<uint32_t>();
    RDom one(0, tile_rows, "v_ones"), feature(0, z.v_head_dim, "v_features");
    s.v_packed(c, z.v_head_dim + one, p, b) = select(p == 0, Expr(0x3f803f80u), Expr(0u));
    s.v_feature = feature;
    s.v_packed(c, feature, p, b) = s.v_lanes.out(c, feature, p, b);
    RDom cleaned(0, z.v_head_dim, 0, 1, "v_cleaned"); // the last dimension is a loop that does not run in other tasks
    cleaned.where(cleaned.y < s.cleaned());
    s.cleaned_feature = cleaned.x;
    s.cleaned_turn = cleaned.y;
    s.v_packed(c, cleaned.x, p, b) = finite_pair(s.v_packed(c, cleaned.x, p, b));
}

void Tiles::define_scores(const Inputs &) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    // Of f16 all, since scores may be large: a small part of one counts, where values are rounded to f16 again.
    const auto products = products_of_terms(facts.terms, 2);
    RDom features(0, z.head_dim, 0, static_cast<int>(products.size()), "features");
    s.feature = features.x, s.score_product = features.y;
    s.scores = Func("scores");
    const auto [q_term, k_term] = terms_of_product(features.y, products);
    const Expr key_bits = facts.terms > 1 ? s.k_terms(features.x, j, k_term, b) : s.operands.k_rows(features.x, j, b);
    s.scores(r, j, t, b) += bf16_of_pair(s.q_scaled(r, features.x / 2, q_term, t), features.x % 2) *
                            widen(reinterpret(BFloat(16), key_bits));
}

void Tiles::define_weighted_values(const Inputs &in, const Visible &visible) {
    const Expr magnitude = magnitude_of(in.scale);
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d;
    s.weights = Func("weights");
    s.block_sum = Func("block_sum");
    s.weighted = Func("weighted");
    if (bounded)
        define_bounded_weights(visible, magnitude);
    else
        define_weights(visible, magnitude);
    const auto weight = [&](const Expr &key, const Expr &term, const Expr &step) {
        return bf16_of_pair(s.weights(r, key / 2, term, step, t, b), key % 2);
    };
    const auto seen = [&](const Expr &step) {
        return visible.in_sight(b * z.key_block + step * tile_depth, tile_depth);
    };
    const auto weigh = [&](const Func &product, RDom &keys, const Expr &feature,
                           const std::vector<std::pair<int, int>> &of_terms, RVar &key, RVar &of, RVar &step) {
        keys.where(seen(keys.z));
        key = keys.x, of = keys.y, step = keys.z;
        const auto [weight_term, value_term] = terms_of_product(keys.y, of_terms);
        const Expr value =
            provider->has_value_blocks()
                ? stored_value(s.operands.v_rows, keys.z * tile_depth + keys.x, feature)
                : bf16_of_pair(s.v_packed(keys.z * (tile_depth / 2) + keys.x / 2, feature, value_term, b), keys.x % 2);
        product(r, d, t, b) += weight(keys.x, weight_term, keys.z) * value;
    };
    const auto keys_of_block = [&](const std::vector<std::pair<int, int>> &of_terms, const std::string &name) {
        return RDom(0, tile_depth, 0, static_cast<int>(of_terms.size()), 0, z.key_block / tile_depth, name);
    };
    const auto products = products_of_terms(facts.terms, facts.terms - 1);
    RDom keys = keys_of_block(products, "keys");
    if (s.v_copied.defined()) keys.where(keys.z < s.first_copied(b));
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
