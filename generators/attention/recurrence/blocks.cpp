#include "blocks.h"

#include "attention/engines/key_lanes/products.h"
#include "attention/engines/vectors/products.h"
#include "attention/variants/general/scores.h"
#include "common/stored_rows.h"
#include "math/transcendental.h"
#include "passes/bf16_matrices.h"
#include "passes/exp2_pairs.h"
#include "rows.h"

namespace gyre::attention {
using namespace Halide;
namespace {

Expr greatest(std::vector<Expr> values) {
    while (values.size() > 1) {
        std::vector<Expr> half;
        for (size_t i = 0; i + 1 < values.size(); i += 2) half.push_back(max(values[i], values[i + 1]));
        if (values.size() % 2) half.push_back(values.back());
        values = half;
    }
    return values[0];
}

/// Keys past the end repeat the last one, and are masked.
void define_keys_and_values(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    if (z.formed) return define_formed_tile_operands(s, in);
    if (z.value_blocks) return define_stored_tile_operands(s, in);
    const Var &j = s.j, &b = s.b, &d = s.d;
    const Expr key = min(b * z.key_block + j, in.keys - 1);
    s.k_offsets = Func("k_offsets"), s.v_offsets = Func("v_offsets");
    s.k_offsets(j, b) = offset_of_key(in.pages, in.k, key);
    s.v_offsets(j, b) = offset_of_key(in.pages, in.v, key);
    const auto element = [&](const KeyRows &rows, const Func &offsets) {
        return [&rows, offset = unsafe_promise_clamped(offsets(j, b), 0, rows.size - 1)](const Expr &feature) {
            return rows.elements(feature, offset);
        };
    };
    s.k_rows = Func("k_rows"), s.v_rows = Func("v_rows");
    if (z.key_lanes && z.padded)
        return define_rows_in_whole_vectors(s, in, element(in.k, s.k_offsets), element(in.v, s.v_offsets));
    const bool as_bits = (z.tile_depth > 0 && z.terms == 1) || z.matrices || z.pairs;
    s.k_rotated = define_rows(s.k_rows, {element(in.k, s.k_offsets), in.head_dim, key, in.k_rotation}, {d, j, b},
                              {z.head_dim, z.padded, as_bits, z.as_stored, z.integer_scores});
    s.v_rotated = define_rows(s.v_rows, {element(in.v, s.v_offsets), in.v_head_dim, key, in.v_rotation}, {d, j, b},
                              {z.v_head_dim, z.padded, as_bits, z.as_stored});
    if (z.tile_depth > 0) define_tile_keys_and_values(s);
    if (z.matrices) define_matrix_keys_and_values(s);
    if (z.pairs) define_pair_keys_and_values(s);
}

/// Of the keys of a block that some row sees.
void define_key_scales(Stages &s, const Inputs &in, const Visible &visible) {
    const Var &j = s.j, &t = s.t, &b = s.b;
    RDom held(0, s.sizes.key_block, "held");
    const Expr key = b * s.sizes.key_block + held;
    held.where(key <= visible.tile_last);
    s.key_scales = Func("key_scales");
    s.key_scales(j, t, b) = {undef<float>(), undef<float>()};
    s.key_scales(held, t, b) = {in.k_scale(key), in.v_scale(key)};
}

/// Tiles, matrices and pairs take keys in whole steps.
int keys_together(const Sizes &z) {
    return z.tile_depth > 0 ? z.tile_depth : z.matrices ? matrix_depth : z.pairs ? 2 * Stages::weighed_pairs : 1;
}

/// The last key of the step in which some row sees one.
Expr last_taken(const Sizes &z, const Visible &visible) {
    const int together = keys_together(z);
    return together > 1 ? visible.tile_last | (together - 1) : visible.tile_last;
}

/// Scores as they are until they are masked: of all keys of a block, or of as many steps of keys as some row sees.
void define_masked(Stages &s, const Visible &visible) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    s.masked = Func("masked");
    const auto score = [&](const Expr &key) -> Expr {
        const Expr stored = s.scores(r, key, t, b);
        return s.key_scales.defined() ? stored * s.key_scales(key, t, b)[0] : stored;
    };
    if (z.key_step == 0) {
        s.masked(r, j, t, b) = score(j);
        return;
    }
    RDom formed(0, z.key_step, 0, z.key_block / z.key_step, "formed");
    formed.where(b * z.key_block + formed.y * z.key_step <= visible.tile_last);
    const Expr key = formed.y * z.key_step + formed.x;
    s.masked(r, j, t, b) = undef<float>();
    s.masked(r, key, t, b) = score(key);
    s.formed_j = formed.x, s.key_step = formed.y;
}

void mask_scores(Stages &s, const Visible &visible) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b;
    KeysOfBlock edge(z, "edge");
    const Expr key = b * z.key_block + edge.key;
    edge.dom.where(b * z.key_block + edge.first <= last_taken(z, visible)); // those that no row sees are masked as well
    const Expr first_key = b * z.key_block, last_key = first_key + (z.key_block - 1);
    // Where loops end with the last key that some row sees, the few rows often see the same keys.
    edge.dom.where(z.key_step > 0 && keys_together(z) == 1 && !z.key_lanes
                       ? visible.is_cut(first_key, min(last_key, visible.tile_last))
                       : visible.at_edge(first_key, z.key_block));
    s.mask_j = edge.lane;
    s.masked(r, edge.key, t, b) = select(visible.sees(key), s.masked(r, edge.key, t, b), masked_score);
}

void find_maximum(Stages &s, const Visible &visible) {
    const Sizes &z = s.sizes;
    if (z.key_lanes) return find_maximum_along_lanes(s, visible);
    const Var &r = s.r, &t = s.t, &b = s.b;
    // A step takes a few keys, since each step waits for the one before.
    const int at_once = z.tile_depth > 0 ? 8 : 1;
    RDom keys(0, z.key_block / at_once, "max_keys");
    keys.where(b * z.key_block + keys * at_once <= visible.tile_last);
    s.max_j = keys;
    s.block_max = Func("block_max");
    s.block_max(r, t, b) = least_score;
    std::vector<Expr> candidates;
    for (int n = 0; n < at_once; n++) candidates.push_back(s.masked(r, keys * at_once + n, t, b));
    s.block_max(r, t, b) = max(s.block_max(r, t, b), greatest(candidates));
}

} // namespace

Visible visible_keys(const Inputs &in, const Stages &s) {
    const Sizes &z = s.sizes;
    const Expr row = s.t * z.row_tile + s.r;
    const auto token_of = [&](const Expr &task_row) -> Expr {
        return in.row_step.defined() ? task_row * in.row_step : task_row / in.heads;
    };
    Expr token = s.row_tokens.defined() ? Expr(s.row_tokens(s.r, s.t)) : row_of_task(in, row).token;
    if (!s.row_tokens.defined() && in.row_step.defined()) token = token * in.row_step;
    const Expr tile_first = token_of(s.t * z.row_tile), tile_last = token_of(s.t * z.row_tile + z.row_tile - 1);
    Visible v;
    v.keys = in.keys;
    v.first = token + in.first_visible, v.last = min(token + in.last_visible, in.keys - 1);
    v.every_first = tile_last + in.first_visible, v.every_last = min(tile_first + in.last_visible, in.keys - 1);
    v.tile_first = max(tile_first + in.first_visible, 0), v.tile_last = min(tile_last + in.last_visible, in.keys - 1);
    return v;
}

void fold_blocks(Stages &s, const Inputs &in, const std::string &name, const Expr &taken) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &e = s.e;
    const Visible visible = visible_keys(in, s);
    define_keys_and_values(s, in);
    if (in.k_scale.defined()) define_key_scales(s, in, visible);
    if (z.key_lanes)
        define_scores_along_lanes(s, in);
    else
        define_scores(s, in.scale);
    define_masked(s, visible);
    if (z.general) define_general_scores(s, in, visible.tile_last);
    if (!z.bounded) {
        mask_scores(s, visible);
        find_maximum(s, visible);
    }
    define_weighted_values(s, in, visible);

    RDom blocks(0, (in.keys + z.key_block - 1) / z.key_block, name);
    // A promise, so that Halide does not narrow the range of blocks with conditions that it cannot simplify again.
    const Expr block_key = unsafe_promise_clamped(blocks * z.key_block, 0, in.keys - 1);
    blocks.where(taken);
    blocks.where(block_key <= visible.tile_last && block_key + z.key_block - 1 >= visible.tile_first);
    s.block = blocks;
    const int chunk = z.feature_chunk, chunks = z.v_head_dim / chunk;
    const auto feature = [&](int c) { return z.lanes_along_features ? c * chunks + e : e * chunk + c; };
    const FuncRef old = s.state(r, t, e);
    const auto power = [&](const Expr &difference) {
        return exp2_nonpositive(z.tile_depth > 0 ? difference * magnitude_of(in.scale) : difference);
    };
    Expr maximum = exp2_pair_shift / magnitude_of(in.scale), keep = 1.0f, add = 1.0f; // as bounded powers are
    if (!z.bounded) {
        const Expr block_max = s.block_max(r, t, blocks);
        maximum = max(old[chunk], block_max);
        if (z.lanes_along_features) { // one of the two is 2^0: less code
            const Expr difference = old[chunk] - block_max, lower = power(-abs(difference));
            keep = select(difference < 0.0f, lower, 1.0f);
            add = select(difference < 0.0f, 1.0f, lower);
        } else {
            keep = power(old[chunk] - maximum);
            add = power(block_max - maximum);
        }
    }
    std::vector<Expr> next;
    for (int c = 0; c < chunk; c++) next.push_back(old[c] * keep + s.weighted(r, feature(c), t, blocks) * add);
    next.push_back(maximum);
    next.push_back(old[chunk + 1] * keep + s.block_sum(r, t, blocks) * add);
    s.state(r, t, e) = Tuple(next);
}

} // namespace gyre::attention
