// Weights that matrix tiles take, and their sums.
#include "attention/variants/dropout/kept.h"
#include "math/bf16_pairs.h"
#include "math/transcendental.h"
#include "passes/instructions/exp2_pairs.h"
#include "passes/instructions/tile_products.h"
#include "terms.h"
#include "tiles.h"

namespace gyre::attention {
using namespace Halide;

/// Powers of two in f32 and their sum, of steps that some row of the tile sees; weights are what tiles take of them.
void Tiles::define_weights(const Inputs &in, const Visible &visible) {
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
    s.powers(r, raised_key, t, b) = exp2_nonpositive(in_log2(in, s.masked(r, raised_key, t, b) - s.block_max(r, t, b)));
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

    if (in.drops()) define_kept(s, in, s.powers);
    const Func &kept = in.drops() ? s.dropout.kept : s.powers;
    const Expr key = s.step * tile_depth + 2 * c;
    const Expr first = kept(r, key, t, b), second = kept(r, key + 1, t, b);
    s.weights(r, c, s.p, s.step, t, b) =
        facts.terms > 1 ? term_pair(first, second, s.p, facts.terms) : bf16_pair_nonnegative(first, second);
}

/// Powers of the scores as they are; then those of keys that a row does not see become 0. Steps that no row of the tile
/// sees are left out; where weights are formed a step at a time, by who asks for them.
void Tiles::define_bounded_weights(const Inputs &in, const Visible &visible) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &c = s.c, &p = s.p, &t = s.t, &b = s.b;
    const auto first_key = [&](const Expr &step) { return b * z.key_block + step * tile_depth; };
    const auto weight = [&](const Expr &step) {
        return exp2_pair_of_units(score_in_units(in, step, 2 * c, 0), score_in_units(in, step, 2 * c + 1, 1));
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
        s.weight_step = seen;
        s.edge_pair = edge.x;
        s.edge_step = edge.y;
    }
}

} // namespace gyre::attention
