// Queries, keys and values as matrix tiles take them.
#include "math/bf16_pairs.h"
#include "passes/instructions/neighbour_pairs.h"
#include "passes/instructions/tile_products.h"
#include "terms.h"
#include "tiles.h"

namespace gyre::attention {
using namespace Halide;

// Queries take only the scale's sign, and of a tiny scale a power of two, which round nothing; what is left of its magnitude is applied to the
// scores in f32.
Expr Tiles::query_factor(const Inputs &in) const {
    const Expr power = power_of_queries(in.scale);
    return select(in.scale > 0.0f, power, in.scale < 0.0f, -power, 0.0f);
}

// Queries and values in pairs of bf16 along the dimension that is summed over.
void Tiles::define_queries(const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &p = s.p, &c = s.c;
    const Expr first = s.q_rows(2 * c, r, t), second = s.q_rows(2 * c + 1, r, t);
    s.q_pairs = Func("q_pairs");
    s.q_pairs(c, r, p, t) = facts.terms > 1 ? term_pair(first, second, p, facts.terms) : neighbour_pair(first, second);
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
            terms.push_back(cast<uint16_t>(bf16_term(s.operands.k_rows(d, j, b), n) >> 16));
        s.k_terms = Func("k_terms");
        s.k_terms(d, j, p, b) = mux(p, terms);
    }

    const Expr first = s.operands.v_rows(d, 2 * c, b), second = s.operands.v_rows(d, 2 * c + 1, b);
    s.v_pairs = Func("v_pairs");
    s.v_pairs(d, c, p, b) = facts.terms > 1 ? term_pair(first, second, p, facts.terms)
                                            : cast<uint32_t>(first) | (cast<uint32_t>(second) << 16);
    s.v_packed = Func("v_packed");
    if (facts.weighs_rows) {
        s.v_packed(d, c, p, b) = s.v_pairs(d, c, p, b);
        RDom cleaned(0, s.v_features, 0, 1, "v_cleaned"); // as below
        cleaned.where(cleaned.y < s.cleaned());
        s.cleaned_feature = cleaned.x;
        s.cleaned_turn = cleaned.y;
        s.v_packed(cleaned.x, c, p, b) = finite_pair(s.v_packed(cleaned.x, c, p, b));
        return;
    }
    s.v_lanes = transpose(s.v_pairs, z.lanes, "v_lanes");
    s.v_packed(c, d, p, b) = undef<uint32_t>();
    RDom features(0, z.lanes, 0, s.v_features / z.lanes, "v_features");
    const Expr feature = features.y * z.lanes + features.x;
    s.v_feature = features.x;
    s.v_features_together = features.y;
    s.v_packed(c, feature, p, b) = s.v_lanes.out(c, feature, p, b);
    RDom cleaned(0, s.v_features, 0, 1, "v_cleaned"); // the last dimension is a loop that does not run in other tasks
    cleaned.where(cleaned.y < s.cleaned());
    s.cleaned_feature = cleaned.x;
    s.cleaned_turn = cleaned.y;
    s.v_packed(c, cleaned.x, p, b) = finite_pair(s.v_packed(c, cleaned.x, p, b));
    if (!has_ones()) return;
    // Further features that are all 1: their weighted sum is the sum of the weights, as they were rounded, formed beside
    // the vector units.
    RDom one(0, tile_rows, "v_ones");
    s.v_packed(c, z.v_head_dim + one, p, b) = select(p == 0, Expr(0x3f803f80u), Expr(0u));
}

} // namespace gyre::attention
