#include "attention_algorithm.h"

#include "../common/storage.h"
#include "../common/transcendental.h"
#include "attention_general.h"
#include "attention_products.h"
#include "attention_rows.h"

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

} // namespace

Stages algorithm(const Inputs &in, const Sizes &z, const Func &out, const Func &lse, const Type &type) {
    Stages s;
    s.sizes = z;
    s.out = out;
    s.lse = lse;
    const Var &i = s.i, &h = s.h, &r = s.r, &t = s.t, &j = s.j, &b = s.b, &d = s.d, &e = s.e;

    // Queries, once a task.
    const Row row = row_of_task(in, t * z.row_tile + r);
    const auto query = [&](const Expr &feature) { return in.q(feature, row.head, row.token); };
    s.q_rows = stage_rows("q_rows", {query, in.head_dim, row.token, in.q_rotation}, {d, r, t}, {z.head_dim, z.padded},
                          s.q_rotated);
    Expr token = row.token;
    if (!Internal::is_const_one(in.heads)) {
        s.row_tokens = Func("row_tokens");
        s.row_tokens(r, t) = token;
        token = s.row_tokens(r, t);
    } else if (in.row_step.defined()) {
        token = token * in.row_step;
    }
    const auto token_of = [&](const Expr &task_row) -> Expr {
        return in.row_step.defined() ? task_row * in.row_step : task_row / in.heads;
    };

    // Keys and values, once a block. Keys past the end repeat the last one and are masked below.
    const Expr key = min(b * z.key_block + j, in.keys - 1);
    s.k_offsets = Func("k_offsets"), s.v_offsets = Func("v_offsets");
    s.k_offsets(j, b) = offset_of_key(in.pages, in.k, key);
    s.v_offsets(j, b) = offset_of_key(in.pages, in.v, key);
    const auto element = [&](const KeyRows &rows, const Func &offsets) {
        return [&rows, offset = unsafe_promise_clamped(offsets(j, b), 0, rows.size - 1)](const Expr &feature) {
            return rows.elements(feature, offset);
        };
    };
    const bool tiles = z.tile_depth > 0, as_bits = tiles && z.terms == 1;
    s.k_rows = stage_rows("k_rows", {element(in.k, s.k_offsets), in.head_dim, key, in.k_rotation}, {d, j, b},
                          {z.head_dim, z.padded, as_bits, z.as_stored}, s.k_rotated);
    s.v_rows = stage_rows("v_rows", {element(in.v, s.v_offsets), in.v_head_dim, key, in.v_rotation}, {d, j, b},
                          {z.v_head_dim, z.padded, as_bits, z.as_stored}, s.v_rotated);
    define_operands(s, in.scale);

    // What some row of row tile t sees. Blocks outside are not computed, and of the last block not the keys after it.
    const Expr tile_first = token_of(t * z.row_tile), tile_last = token_of(t * z.row_tile + z.row_tile - 1);
    const Expr tile_first_key = max(tile_first + in.first_visible, 0);
    const Expr tile_last_key = min(tile_last + in.last_visible, in.keys - 1);
    // Tiles take whole steps of keys: those that no row sees are masked as well.
    const Expr last_weighted_key = tiles ? tile_last_key | (z.tile_depth - 1) : tile_last_key;

    define_scores(s);
    s.masked = Func("masked");
    const auto score = [&](const Expr &key_of_block) {
        const Expr stored = s.scores(r, key_of_block, t, b);
        return in.k_scale.defined() ? stored * in.k_scale(min(b * z.key_block + key_of_block, in.keys - 1)) : stored;
    };
    if (z.key_step == 0) {
        s.masked(r, j, t, b) = score(j);
    } else {
        RDom formed(0, z.key_step, 0, z.key_block / z.key_step, "formed");
        formed.where(b * z.key_block + formed.y * z.key_step <= tile_last_key);
        const Expr formed_key = formed.y * z.key_step + formed.x;
        s.masked(r, j, t, b) = undef<float>();
        s.masked(r, formed_key, t, b) = score(formed_key);
        s.formed_j = formed.x, s.key_step = formed.y;
    }
    if (z.general) define_general_scores(s, in, tile_last_key);
    // Only blocks at an edge of what the tile sees are masked key by key.
    RDom edge(0, z.key_block, "edge");
    edge.where(b * z.key_block + edge <= last_weighted_key);
    edge.where(b * z.key_block + z.key_block - 1 > min(tile_first + in.last_visible, in.keys - 1) ||
               b * z.key_block < tile_last + in.first_visible);
    s.mask_j = edge;
    const Expr edge_key = b * z.key_block + edge;
    s.masked(r, edge, t, b) =
        select(edge_key >= token + in.first_visible && edge_key <= min(token + in.last_visible, in.keys - 1),
               s.masked(r, edge, t, b), masked_score);

    // Of a few keys at a time, since each step waits for the one before.
    const int at_once = tiles ? 8 : 1;
    RDom max_keys(0, z.key_block / at_once, "max_keys");
    max_keys.where(b * z.key_block + max_keys * at_once <= tile_last_key);
    s.max_j = max_keys;

    s.block_max = Func("block_max");
    s.block_max(r, t, b) = masked_score;
    std::vector<Expr> candidates;
    for (int key = 0; key < at_once; key++) candidates.push_back(s.masked(r, max_keys * at_once + key, t, b));
    s.block_max(r, t, b) = max(s.block_max(r, t, b), greatest(candidates));

    // With tiles, scores have yet to be scaled.
    const Expr magnitude = select(in.scale == 0.0f, 1.0f, abs(in.scale));
    const auto power = [&](const Expr &difference) {
        return exp2_nonpositive(tiles ? difference * magnitude : difference);
    };
    define_weighted_values(s, in.v_scale.defined() ? Expr(in.v_scale(key)) : Expr(), tile_last_key, magnitude);

    // The online softmax. A tuple holds the accumulators of `chunk` features, neighbours d = e * chunk + c if lanes run
    // along rows, with the maximum and the sum, because the accumulators' update reads the maximum that it also replaces.
    const int chunk = z.feature_chunk, chunks = z.v_head_dim / chunk;
    const auto feature = [&](int c) { return z.lanes_along_features ? c * chunks + e : e * chunk + c; };
    RDom blocks(0, (in.keys + z.key_block - 1) / z.key_block, "blocks");
    // A promise, so that Halide does not narrow the range of blocks with conditions that it cannot simplify again.
    const Expr block_key = unsafe_promise_clamped(blocks * z.key_block, 0, in.keys - 1);
    blocks.where(block_key <= tile_last_key && block_key + z.key_block - 1 >= tile_first_key);
    s.block = blocks;
    std::vector<Expr> initial(chunk + 2, Expr(0.0f)), next(chunk + 2);
    initial[chunk] = masked_score;
    s.state = Func("state");
    s.state(r, t, e) = Tuple(initial);
    const FuncRef old = s.state(r, t, e);
    const Expr maximum = max(old[chunk], s.block_max(r, t, blocks));
    const Expr keep = power(old[chunk] - maximum);
    const Expr add = power(s.block_max(r, t, blocks) - maximum);
    for (int c = 0; c < chunk; c++) next[c] = old[c] * keep + s.weighted(r, feature(c), t, blocks) * add;
    next[chunk] = maximum;
    next[chunk + 1] = old[chunk + 1] * keep + s.block_sum(r, t, blocks) * add;
    s.state(r, t, e) = Tuple(next);

    // The epilogue. A sink joins the denominator as one more key without a value.
    const auto finish = [&](const Expr &rr, const Expr &tt) {
        struct {
            Expr inverse, lse;
        } f;
        const FuncRef end = s.state(rr, tt, 0);
        const Expr sum = end[chunk + 1], any_visible = end[chunk] > masked_score * 0.5f;
        const Expr maximum = tiles ? end[chunk] * magnitude : Expr(end[chunk]);
        const Expr nothing = reinterpret<float>(Expr(0xff800000u)); // -inf, which arithmetic may not produce
        if (!z.general) {
            f.inverse = select(any_visible, 1.0f / sum, 0.0f);
            f.lse = select(any_visible, maximum * ln_2 + log_positive(sum), nothing);
        } else {
            const Expr top = max(maximum, in.sink);
            const Expr keys_share = select(any_visible, exp2_nonpositive(maximum - top), 0.0f);
            const Expr total = sum * keys_share + exp2_nonpositive(in.sink - top);
            f.inverse = keys_share / total;
            f.lse = select(any_visible, top * ln_2 + log_positive(total), nothing);
        }
        return f;
    };
    s.inverse_sum = Func("inverse_sum");
    s.inverse_sum(r, t) = finish(r, t).inverse;
    const Expr out_row = i * in.heads + h;
    const Expr tile_of_row = z.one_tile ? Expr(0) : out_row / z.row_tile;
    const Expr row_of_tile = z.one_tile ? unsafe_promise_clamped(out_row, 0, z.row_tile - 1) : out_row % z.row_tile;
    s.lse(i, h) = finish(row_of_tile, tile_of_row).lse;

    std::vector<Expr> accumulators;
    const Expr chunk_of_d = z.lanes_along_features ? d % chunks : d / chunk;
    const Expr place_in_chunk = z.lanes_along_features ? d / chunks : d % chunk;
    for (int c = 0; c < chunk; c++) accumulators.push_back(s.state(r, t, chunk_of_d)[c]);
    s.normalised = Func("normalised");
    // Where nothing is visible the accumulators hold whatever masked values were, NaNs included.
    s.normalised(r, d, t) =
        select(s.inverse_sum(r, t) != 0.0f, mux(place_in_chunk, accumulators) * s.inverse_sum(r, t), 0.0f);
    s.out_rows = transpose(s.normalised, z.lanes, "out_rows");
    s.out_copy = Func("out_copy");
    s.out_copy(d, r, t) = s.out_rows.out(d, r, t);
    const auto finished = [&](const Expr &feature) { return s.out_copy(feature, row_of_tile, tile_of_row); };
    const auto stored = [&](const Expr &value) { return narrow(value, type); };
    s.out(d, h, i) = stored(finished(d));
    s.out_rotated = rotate(s.out, {h, i}, i, z.v_head_dim, in.out_rotation, finished, stored);
    return s;
}

} // namespace gyre::attention
