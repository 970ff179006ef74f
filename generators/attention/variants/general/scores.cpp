#include "scores.h"

#include "attention/recurrence/keys_of_block.h"
#include "attention/recurrence/rows.h"
#include "attention/recurrence/scores.h"
#include "attention/variants/score/stage.h"
#include "math/bf16_pairs.h"
#include "math/transcendental.h"
#include "passes/instructions/neighbour_pairs.h"

#include <functional>

namespace gyre::attention {
using namespace Halide;
namespace {

/// NaN stays NaN.
Expr at_least_score(const Expr &score) { return select(strict_float(score < least_score), least_score, score); }

Expr in_units(const Expr &score, const Expr &unit) { return unit.defined() ? score * unit : score; }

/// Where ALiBi is all that is added: a multiply-add a score, of what is not stored, so that nothing is transposed.
void add_slopes(Stages &s, const Inputs &in, const Row &row, const Expr &where, const Expr &tile_last_key,
                const Expr &unit) {
    const Var &r = s.r, &t = s.t, &b = s.b;
    Expr slope = in.alibi(row.head);
    if (s.row_heads.defined()) {
        s.general.row_slopes = Func("row_slopes");
        s.general.row_slopes(r, t) = slope;
        slope = s.general.row_slopes(r, t);
    }
    RDom sloped(0, s.sizes.key_block, "sloped");
    const Expr key = b * s.sizes.key_block + sloped;
    sloped.where(where && key <= tile_last_key);
    const Expr score = s.masked(r, sloped, t, b);
    const Expr sum = at_least_score(in_units(score, unit) + slope * cast<float>(key - row.token + in.alibi_origin));
    s.masked(r, sloped, t, b) = in.score ? select(is_masked(score), masked_score, sum) : sum;
}

/// Where a mask is all that is added: whether it hides a key of a block from some row of a tile. Bytes are looked at in a fraction of the time
/// that transposing them takes, and masks that are no ranges often hide keys of few blocks. A block that is not whole counts as one with hidden keys.
void define_hides(Stages &s, const Inputs &in, const std::function<Row(const Expr &r)> &row_at) {
    GeneralStages &g = s.general;
    const Var &t = s.t, &b = s.b;
    const int block = s.sizes.key_block;
    const Expr is_looked_at =
        in.has_mask && in.mask_is_dense && !(in.has_bias || in.has_alibi) && b * block + block <= in.keys;
    RDom rows(0, s.sizes.row_tile, "mask_rows"), all(0, block, "mask_bytes");
    rows.where(is_looked_at);
    all.where(is_looked_at);
    const Row row = row_at(rows);
    const Expr key = unsafe_promise_clamped(b * block + g.l, 0, in.keys - 1);
    g.mask_least = Func("mask_least");
    g.mask_least(g.l, t, b) = UInt(8).max();
    g.mask_least(g.l, t, b) = min(g.mask_least(g.l, t, b), in.mask(key, row.token, row.head));
    g.mask_byte = all;
    g.least_byte = Func("least_byte");
    g.least_byte(t, b) = UInt(8).max();
    g.least_byte(t, b) = min(g.least_byte(t, b), g.mask_least(all, t, b));
    g.hides = Func("hides");
    g.hides(t, b) = select(is_looked_at && g.least_byte(t, b) != 0, 0, 1);
}

/// Where a bf16 bias is all that is added: pairs of neighbouring keys are transposed as they lie in memory, which is half of the work, and
/// are made numbers where they are added.
void add_pairs(Stages &s, const Inputs &in, const Row &row, const Expr &where, const Expr &tile_last_key,
               const Expr &unit) {
    GeneralStages &g = s.general;
    const Var &r = s.r, &t = s.t, &b = s.b;
    const Var c("c");
    const int block = s.sizes.key_block, together = 2 * s.sizes.lanes; // keys of a block that is transposed
    const auto bits = [&](const Expr &key) {
        return in.bias_bits(min(likely(b * block + key), in.keys - 1), row.token, row.head);
    };
    g.pair_rows = Func("pair_rows");
    g.pair_rows(c, r, t, b) = neighbour_pair(bits(2 * c), bits(2 * c + 1));
    g.pair_lanes = transpose(g.pair_rows, s.sizes.lanes, "pair_lanes", true);
    RDom paired(0, 2, 0, block / 2, "paired");
    paired.where(where && b * block + 2 * paired.y / together * together <= tile_last_key);
    g.key_of_pair = paired.x;
    g.pair_c = paired.y;
    g.pair_update = s.masked.num_update_definitions();
    const Expr key = 2 * paired.y + paired.x;
    const Expr added = bf16_of_pair(g.pair_lanes.out(r, paired.y, t, b), paired.x);
    const Expr score = in_units(s.masked(r, key, t, b), unit);
    Expr is_hidden = reinterpret<uint32_t>(added) == Expr(0xff800000u);
    if (in.score) is_hidden = is_hidden || is_masked(score);
    s.masked(r, key, t, b) = select(is_hidden, masked_score, at_least_score(score + added * log2_e));
}

} // namespace

void cap_scores(Stages &s, const Expr &softcap, const Expr &tile_last_key, int in_vector, const Expr &unit) {
    const Var &r = s.r, &t = s.t, &b = s.b;
    KeysOfBlock cap(s.sizes.key_block, in_vector, "cap");
    cap.dom.where(softcap > 0.0f && b * s.sizes.key_block + cap.first <= tile_last_key);
    s.general.cap_j = cap.lane;
    const Expr natural = in_units(s.masked(r, cap.key, t, b), unit) * ln_2; // scores carry log2(e), the cap does not
    s.masked(r, cap.key, t, b) = softcap * log2_e * tanh_accurate(natural / softcap);
}

void slope_scores(Stages &s, const Inputs &in, const Expr &tile_last_key, const Expr &unit) {
    add_slopes(s, in, {s.first_row() + s.r, 0}, Internal::const_true(), tile_last_key, unit);
}

void define_general_scores(Stages &s, const Inputs &in, const Expr &tile_last_key, int in_vector, const Expr &unit,
                           bool in_pairs) {
    const Sizes &z = s.sizes;
    GeneralStages &g = s.general;
    const Var &r = s.r, &t = s.t, &j = s.j, &b = s.b;
    const auto row_at = [&](const Expr &of_tile) { return row_of_tile(s, in, of_tile, t); };
    const Row row = row_at(r);
    const Expr token = s.row_tokens.defined() ? row.token : s.first_row() + r;
    const auto known_key = [&](const Expr &jj) { return min(likely(b * z.key_block + jj), in.keys - 1); };

    cap_scores(s, in.softcap, tile_last_key, in_vector, unit);
    const Expr is_capped = in.softcap > 0.0f;
    Expr unit_left = unit.defined() ? select(is_capped, 1.0f, unit) : Expr();
    if (in.score) {
        define_score(s, in, tile_last_key, unit_left);
        unit_left = Expr();
    }

    // What is added to a row of scores, in rows as it is stored, then transposed as scores are.
    g.bias_rows = Func("bias_rows");
    const Expr sum = select(in.has_bias, in.bias(known_key(j), row.token, row.head) * log2_e, 0.0f) +
                     in.alibi(row.head) * cast<float>(b * z.key_block + j - token + in.alibi_origin);
    const Expr masks = in.has_bias && in.bias_masks(known_key(j), row.token, row.head);
    g.bias_rows(j, r, t, b) = select(masks, masked_score, at_least_score(sum));
    RDom attend(0, z.key_block, "attend");
    attend.where(in.has_mask);
    g.attend_j = attend;
    g.bias_rows(attend, r, t, b) =
        select(in.mask(known_key(attend), row.token, row.head) == 0, masked_score, g.bias_rows(attend, r, t, b));

    const bool along_rows = in_vector == 1;
    KeysOfBlock biased(z.key_block, in_vector, "biased");
    const Expr is_biased = in.has_bias || in.has_mask || in.has_alibi, has_rows = in.has_bias || in.has_mask;
    const Expr is_paired = in.has_bf16_bias && !(in.has_mask || in.has_alibi);
    if (in_pairs) biased.dom.where(!is_paired);
    if (along_rows) define_hides(s, in, row_at);
    const Expr hides = along_rows ? g.hides(t, b) != 0 : Internal::const_true();
    biased.dom.where(hides);
    biased.dom.where((along_rows ? has_rows : is_biased) && b * z.key_block + biased.first <= tile_last_key);
    g.bias_j = biased.lane;
    g.bias_update = s.masked.num_update_definitions();
    if (along_rows) g.bias_lanes = transpose(g.bias_rows, z.lanes, "bias_lanes", true);
    const Expr score = in_units(s.masked(r, biased.key, t, b), unit_left);
    const Expr added = along_rows ? g.bias_lanes.out(r, biased.key, t, b) : g.bias_rows(biased.key, r, t, b);
    Expr masked_key = is_masked(added);
    if (in.score) masked_key = masked_key || is_masked(score);
    s.masked(r, biased.key, t, b) = select(masked_key, masked_score, at_least_score(score + added));
    if (along_rows) add_slopes(s, in, {token, row.head}, in.has_alibi && !has_rows, tile_last_key, unit_left);
    if (in_pairs) add_pairs(s, in, row, is_paired, tile_last_key, unit_left);

    if (!unit_left.defined()) return;
    KeysOfBlock others(z.key_block, in_vector, "unbiased"); // of a call or block that has nothing of all this
    if (along_rows) {
        g.unchanged = Func("unchanged");
        g.unchanged(t, b) = select(is_biased && hides, 0, 1);
        g.other_j = others.lane;
    }
    others.dom.where(along_rows ? g.unchanged(t, b) != 0 : !is_biased);
    others.dom.where(!is_capped && b * z.key_block + others.first <= tile_last_key);
    s.masked(r, others.key, t, b) = s.masked(r, others.key, t, b) * unit;
}

} // namespace gyre::attention
