// A cap and a slope of ALiBi in row tiles whose scores are provably small (bound.cpp): part of the operations that make powers of scores.
//
// A capped score is no larger than the score. Where |score| <= cap, tanh(x) / x is a polynomial of x^2.
//
// A slope >= 0 times a distance <= 0 makes scores smaller, so that they stay below the bound, but it may make all of a row so small that the
// sum of their powers is 0. Of a row's terms of ALiBi that of the last key that it sees is the largest. Where that is no less than -largest_loss for each row
// of the tile, each row's sum is at least 2^-(bound + largest_loss). What is 2^-least_share of that or less does not count: keys beyond the
// slope's reach are hidden from bounded row tiles, and scores below the exponents of exp2_pair() have its least one.
#include "attention/recurrence/scores.h"
#include "common/slope_reach.h"
#include "math/norms.h"
#include "passes/instructions/exp2_pairs.h"
#include "passes/instructions/tile_products.h"
#include "tiles.h"

#include <iterator>

namespace gyre::attention {
using namespace Halide;
namespace {

// In units of log2(e): powers and their sums stay between 2^-60 and 2^60 times the number of keys.
constexpr float plain_limit = 60.0f;

// The limit of scores beside a slope. What is left of those 60 raises their powers: the largest power of a row is then 2^-28 at least, and powers
// without an exponent of their own are 2^-62.
constexpr float sloped_limit = 40.0f, sloped_raise = plain_limit - sloped_limit, largest_loss = 8.0f,
                least_share = 32.0f;
static_assert(2 * sloped_limit + largest_loss + least_share == slope_of_nothing);
constexpr float steepest = 0x1p20f;

// tanh(x) / x as a polynomial of x^2 for |x| <= 1, after its first term, 1: relative error below 7e-7 (a minimax fit).
constexpr float of_tanh[] = {-0.3333028f, 0.132884938f, -0.0517684099f, 0.0169065773f, -0.00312665496f};
constexpr float largest_of_tanh = 1.0f;
constexpr int cap_terms = std::size(of_tanh);

} // namespace

Expr Tiles::score_limit(const Inputs &in) const {
    if (in.is_capped()) return min(plain_limit, in.softcap * (log2_e * largest_of_tanh));
    return in.is_sloped() ? sloped_limit : plain_limit;
}

Expr Tiles::power_raise(const Inputs &in) const { return in.is_sloped() ? sloped_raise : 0.0f; }

/// True if the slope makes no score of row tile t larger, and of each row's last key not much smaller.
Expr Tiles::has_small_distances(const Inputs &in) const {
    if (!in.is_sloped()) return Internal::const_true();
    const Sizes &z = s.sizes;
    const Expr first_token = s.t * z.row_tile, last_token = min(s.t * z.row_tile + z.row_tile, in.rows) - 1;
    const auto last_distance = [&](const Expr &token) {
        return min(in.last_visible, in.keys - 1 - token) + in.alibi_origin;
    };
    const Expr slope = in.alibi(0), loss = slope * cast<float>(-last_distance(last_token));
    // By bits, which NaN has beyond those of numbers, and numbers below 0 too.
    return ordered_bits(slope) <= ordered_bits(steepest) && last_distance(first_token) <= 0 && loss <= largest_loss;
}

/// The keys that rows see. From bounded row tiles it hides those keys of whose weights the slope leaves nothing that counts.
Visible Tiles::visible(const Inputs &in) const {
    if (!bounded || !in.is_sloped()) return RecurrenceEngine::visible(in);
    Inputs near = in;
    near.first_visible = max(in.first_visible, -in.slope_reach - in.alibi_origin);
    return visible_keys(near, s);
}

/// Defines what score_in_units() reads, once a task.
void Tiles::define_changes(const Inputs &in) {
    const Var &l = s.l;
    if (in.is_capped()) {
        const Expr of_square = magnitude_of(in.scale) * ln_2 / in.softcap, square = of_square * of_square;
        Expr power = magnitude_of(in.scale) * exp2_pair_unit, factor = power;
        s.cap_units = Func("cap_units");
        for (int n = 0; n < cap_terms; n++) {
            power = power * square;
            factor = select(l == n + 1, power * of_tanh[n], factor);
        }
        s.cap_units(l) = factor;
    } else if (in.is_sloped()) {
        s.slope_units = Func("slope_units");
        s.slope_units(l) = cast<float>(l) * (in.alibi(0) * exp2_pair_unit) + sloped_raise * exp2_pair_unit +
                           select(l % 2 == 0, exp2_pair_offset(0), exp2_pair_offset(1));
    }
}

void Tiles::schedule_changes() {
    if (s.cap_units.defined()) s.cap_units.compute_root().bound(s.l, 0, cap_terms + 1).unroll(s.l);
    if (s.slope_units.defined()) s.slope_units.compute_root().bound(s.l, 0, tile_depth);
}

/// The exponent of key `key` of step `step` of a block, as exp2_pair_of_units() takes it.
Expr Tiles::score_in_units(const Inputs &in, const Expr &step, const Expr &key, int which) const {
    const Expr score = s.masked(s.r, step * tile_depth + key, s.t, s.b);
    if (in.is_capped()) {
        const Expr square = score * score;
        Expr factor = s.cap_units(cap_terms);
        for (int n = cap_terms - 1; n >= 0; n--) factor = factor * square + s.cap_units(n);
        return score * factor + exp2_pair_offset(which);
    }
    const Expr unit = magnitude_of(in.scale) * exp2_pair_unit;
    if (!in.is_sloped()) return score * unit + exp2_pair_offset(which);
    const Expr token = s.t * s.sizes.row_tile + s.r, first_key = s.b * s.sizes.key_block + step * tile_depth;
    const Expr distance = cast<float>(first_key - token + in.alibi_origin);
    // Strict, so that what all scores of a step share is not formed for each of them.
    const Expr added = strict_float(distance * (in.alibi(0) * exp2_pair_unit) + s.slope_units(key));
    return exp2_pair_at_least(score * unit + added, which);
}

} // namespace gyre::attention
