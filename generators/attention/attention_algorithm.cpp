#include "attention_algorithm.h"

#include "../common/bf16_pairs.h"
#include "../common/storage.h"
#include "../common/transcendental.h"
#include "attention_score.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// The token and the head of a task's row, which may be one after the last: then the last one's.
struct Row {
    Expr token, head;
};
Row row_of_task(const Inputs &in, const Expr &task_row) {
    const Expr row = min(task_row, in.rows - 1);
    if (Internal::is_const_one(in.heads)) return {row, 0};
    // Exact below 2^20 rows, and quicker than a division.
    const Expr quotient = cast<int>((cast<float>(row) + 0.5f) * (1.0f / cast<float>(in.heads)));
    const Expr token = unsafe_promise_clamped(quotient, 0, in.tokens - 1);
    return {token, unsafe_promise_clamped(row - token * in.heads, 0, in.heads - 1)};
}

/// Where the rows of a task's key begin.
Expr offset_of_key(const Pages &pages, const KeyRows &rows, const Expr &key) {
    const Expr slot = pages.first_slot + key;
    const Expr page = pages.table(unsafe_promise_clamped(slot >> pages.bits, 0, pages.count - 1));
    return page * rows.page_stride + (slot & ((1 << pages.bits) - 1)) * rows.slot_stride;
}

/// Rows of a tensor in f32, rotated; features past the tensor's own extent are 0.
/// `as_bits`: of a bf16 tensor, rounded to bf16 again, as UInt(16).
/// `element` gives a feature as it is stored.
Func stage_rows(const std::string &name, const std::function<Expr(const Expr &)> &element, const std::vector<Var> &args,
                const Expr &angle_row, int features, bool padded, const Expr &extent, const Rotation &rotation,
                RotatedRows &rotated, bool as_bits = false, bool as_stored = false) {
    Func rows(name);
    const auto source = [&](const Expr &feature) { return widen(element(feature)); };
    const auto stored = [&](const Expr &value) {
        return as_bits ? reinterpret<uint16_t>(narrow(value, BFloat(16))) : value;
    };
    const auto copied = [&](const Expr &feature) {
        return as_bits ? reinterpret<uint16_t>(element(feature)) : source(feature);
    };
    const Expr d = args[0];
    const Expr inside = padded ? copied(min(d, extent - 1)) : copied(d);
    rows(args) = padded ? select(d < extent, inside, cast(inside.type(), 0)) : inside;
    if (as_stored) return rows;
    rotated = rotate(rows, {args.begin() + 1, args.end()}, angle_row, features, rotation, source, stored);
    return rows;
}

Expr greatest(std::vector<Expr> values) {
    while (values.size() > 1) {
        std::vector<Expr> half;
        for (size_t i = 0; i + 1 < values.size(); i += 2) half.push_back(max(values[i], values[i + 1]));
        if (values.size() % 2) half.push_back(values.back());
        values = half;
    }
    return values[0];
}

/// The products on matrix tiles: queries and values in pairs of bf16 along the dimension that is summed over. Queries
/// take only the scale's sign, which rounds nothing; its magnitude is applied to the scores in f32.
void define_tile_operands(Stages &s, const Expr &scale) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d;
    const Var c("c");
    const Expr sign = select(scale > 0.0f, 1.0f, scale < 0.0f, -1.0f, 0.0f);
    s.q_pairs = Func("q_pairs");
    s.q_pairs(c, r, t) = bf16_pair(s.q_rows(2 * c, r, t) * sign, s.q_rows(2 * c + 1, r, t) * sign);
    s.q_lanes = transpose(s.q_pairs, z.lanes, "q_lanes");
    s.q_scaled = Func("q_scaled");
    s.q_scaled(r, c, t) = s.q_lanes.out(r, c, t);

    s.v_pairs = Func("v_pairs");
    s.v_pairs(d, c, b) = cast<uint32_t>(s.v_rows(d, 2 * c, b)) | (cast<uint32_t>(s.v_rows(d, 2 * c + 1, b)) << 16);
    s.v_lanes = transpose(s.v_pairs, z.lanes, "v_lanes");
    // Further features that are all 1: their weighted sum is the sum of the weights, as they were rounded, formed beside
    // the vector units.
    s.v_packed = Func("v_packed");
    s.v_packed(c, d, b) = Expr(0x3f803f80u);
    RDom feature(0, z.v_head_dim, "v_features");
    s.v_feature = feature;
    s.v_packed(c, feature, b) = s.v_lanes.out(c, feature, b);
}

/// Everything that the general family does to scores before they are masked: cap, score function, bias, boolean mask,
/// ALiBi. Keys after `tile_last_key` need not be touched.
void define_general_scores(Stages &s, const Inputs &in, const Expr &tile_last_key) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &j = s.j, &b = s.b;
    const Expr i = t * z.row_tile + r, known_row = min(i, in.rows - 1);
    const auto known_key = [&](const Expr &jj) { return min(likely(b * z.key_block + jj), in.keys - 1); };

    RDom cap(0, z.key_block, "cap");
    cap.where(in.softcap > 0.0f && b * z.key_block + cap <= tile_last_key);
    s.cap_j = cap;
    const Expr natural = s.masked(r, cap, t, b) * ln_2; // scores carry log2(e), the cap does not
    s.masked(r, cap, t, b) = in.softcap * log2_e * tanh_accurate(natural / in.softcap);

    if (in.score) define_score(s, in, tile_last_key);

    // What is added to a row of scores, in rows as it is stored, then transposed as scores are.
    s.bias_rows = Func("bias_rows");
    const Expr sum = select(in.has_bias, in.bias(known_key(j), known_row) * log2_e, 0.0f) +
                     in.alibi * cast<float>(b * z.key_block + j - i + in.alibi_origin);
    // strict_float: a bias may be -inf, which the compiler is otherwise told not to expect.
    s.bias_rows(j, r, t, b) = select(strict_float(sum < masked_score), masked_score, sum);
    RDom attend(0, z.key_block, "attend");
    attend.where(in.has_mask);
    s.attend_j = attend;
    s.bias_rows(attend, r, t, b) =
        select(in.mask(known_key(attend), known_row) == 0, masked_score, s.bias_rows(attend, r, t, b));
    s.bias_lanes = transpose(s.bias_rows, z.lanes, "bias_lanes");

    RDom biased(0, z.key_block, "biased");
    biased.where((in.has_bias || in.has_mask || in.alibi != 0.0f) && b * z.key_block + biased <= tile_last_key);
    s.bias_j = biased;
    s.bias_update = s.masked.num_update_definitions();
    s.masked(r, biased, t, b) = max(s.masked(r, biased, t, b) + s.bias_lanes.out(r, biased, t, b), masked_score);
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
    s.q_rows = stage_rows("q_rows", query, {d, r, t}, row.token, z.head_dim, z.padded, in.head_dim, in.q_rotation,
                          s.q_rotated);
    Expr token = row.token;
    if (!Internal::is_const_one(in.heads)) {
        s.row_tokens = Func("row_tokens");
        s.row_tokens(r, t) = token;
        token = s.row_tokens(r, t);
    }
    const bool tiles = z.tile_depth > 0;
    if (!tiles) {
        s.q_lanes = transpose(s.q_rows, z.lanes, "q_lanes");
        s.q_scaled = Func("q_scaled");
        s.q_scaled(r, d, t) = s.q_lanes.out(r, d, t) * in.scale;
    }

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
    s.k_rows = stage_rows("k_rows", element(in.k, s.k_offsets), {d, j, b}, key, z.head_dim, z.padded, in.head_dim,
                          in.k_rotation, s.k_rotated, tiles, z.as_stored);
    s.v_rows = stage_rows("v_rows", element(in.v, s.v_offsets), {d, j, b}, key, z.v_head_dim, z.padded, in.v_head_dim,
                          in.v_rotation, s.v_rotated, tiles, z.as_stored);
    if (tiles) define_tile_operands(s, in.scale);

    // What some row of row tile t sees. Blocks outside are not computed, and of the last block not the keys after it.
    const Expr tile_first = t * z.row_tile / in.heads, tile_last = (t * z.row_tile + z.row_tile - 1) / in.heads;
    const Expr tile_first_key = max(tile_first + in.first_visible, 0);
    const Expr tile_last_key = min(tile_last + in.last_visible, in.keys - 1);
    // Tiles take whole steps of keys: those that no row sees are masked as well.
    const Expr last_weighted_key = tiles ? tile_last_key | (z.tile_depth - 1) : tile_last_key;

    const bool folded = z.fold > 0;
    RDom features(0, folded ? z.head_dim / z.fold : z.head_dim, "features");
    s.feature = features;
    s.scores = Func("scores");
    if (folded) {
        const Var &f = s.f, c("c");
        s.q_folded = Func("q_folded");
        s.q_folded(f, r, c, t) = s.q_scaled(r, c * z.fold + f, t);
        s.folded_scores = Func("folded_scores");
        s.folded_scores(f, r, j, t, b) += s.q_folded(f, r, features, t) * s.k_rows(features * z.fold + f, j, b);
        Expr sum = s.folded_scores(0, r, j, t, b);
        for (int n = 1; n < z.fold; n++) sum += s.folded_scores(n, r, j, t, b);
        s.scores(r, j, t, b) = sum;
    } else if (tiles)
        s.scores(r, j, t, b) += bf16_of_pair(s.q_scaled(r, features / 2, t), features % 2) *
                                widen(reinterpret(BFloat(16), s.k_rows(features, j, b)));
    else
        s.scores(r, j, t, b) += s.q_scaled(r, features, t) * s.k_rows(features, j, b);

    s.masked = Func("masked");
    s.masked(r, j, t, b) = s.scores(r, j, t, b);
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
    s.weights = Func("weights");
    s.block_sum = Func("block_sum");
    s.weighted = Func("weighted");
    if (tiles) {
        const Var c("c");
        const auto weight = [&](const Expr &key) {
            return exp2_nonpositive_bf16((s.masked(r, key, t, b) - s.block_max(r, t, b)) * magnitude);
        };
        s.weights(r, c, t, b) = bf16_pair_nonnegative(weight(2 * c), weight(2 * c + 1));
        const auto weigh = [&](Func product, const std::string &keys_name, const Expr &feature, RVar &key, RVar &step) {
            RDom keys(0, z.tile_depth, 0, z.key_block / z.tile_depth, keys_name);
            keys.where(b * z.key_block + keys.y * z.tile_depth <= tile_last_key);
            key = keys.x, step = keys.y;
            const Expr pair = keys.y * (z.tile_depth / 2) + keys.x / 2;
            product(r, d, t, b) += bf16_of_pair(s.weights(r, pair, t, b), keys.x % 2) *
                                   bf16_of_pair(s.v_packed(pair, feature, b), keys.x % 2);
        };
        weigh(s.weighted, "keys", d, s.value_j, s.value_step);
        if (z.sum_with_values) {
            s.block_sum(r, t, b) = s.weighted(r, z.v_head_dim, t, b);
        } else {
            s.sums = Func("sums");
            weigh(s.sums, "sum_keys", z.v_head_dim + d, s.sum_j, s.sum_step);
            s.block_sum(r, t, b) = s.sums(r, 0, t, b);
        }
    } else {
        s.weights(r, j, t, b) = power(s.masked(r, j, t, b) - s.block_max(r, t, b));
        RDom sum_keys(0, z.key_block, "sum_keys"), keys(0, z.key_block, "keys");
        for (RDom *domain : {&sum_keys, &keys}) domain->where(b * z.key_block + *domain <= tile_last_key);
        s.sum_j = sum_keys, s.value_j = keys;
        s.block_sum(r, t, b) += s.weights(r, sum_keys, t, b);
        if (folded) {
            s.weighted_rows = Func("weighted_rows");
            s.weighted_rows(d, r, t, b) += s.weights(r, keys, t, b) * s.v_rows(d, keys, b);
            s.weighted_lanes = transpose(s.weighted_rows, z.lanes, "weighted_lanes");
            s.weighted(r, d, t, b) = s.weighted_lanes.out(r, d, t, b);
        } else {
            s.weighted(r, d, t, b) += s.weights(r, keys, t, b) * s.v_rows(d, keys, b);
        }
    }

    // The online softmax. A tuple holds the accumulators of `chunk` neighbouring features, d = e * chunk + c, with the
    // maximum and the sum, because the accumulators' update reads the maximum that it also replaces.
    const int chunk = z.feature_chunk;
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
    for (int c = 0; c < chunk; c++) next[c] = old[c] * keep + s.weighted(r, e * chunk + c, t, blocks) * add;
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
    s.lse(i, h) = finish(out_row % z.row_tile, out_row / z.row_tile).lse;

    std::vector<Expr> accumulators;
    for (int c = 0; c < chunk; c++) accumulators.push_back(s.state(r, t, d / chunk)[c]);
    s.normalised = Func("normalised");
    // Where nothing is visible the accumulators hold whatever masked values were, NaNs included.
    s.normalised(r, d, t) =
        select(s.inverse_sum(r, t) != 0.0f, mux(d % chunk, accumulators) * s.inverse_sum(r, t), 0.0f);
    s.out_rows = transpose(s.normalised, z.lanes, "out_rows");
    s.out_copy = Func("out_copy");
    s.out_copy(d, r, t) = s.out_rows.out(d, r, t);
    const auto finished = [&](const Expr &feature) {
        return s.out_copy(feature, out_row % z.row_tile, out_row / z.row_tile);
    };
    const auto stored = [&](const Expr &value) { return narrow(value, type); };
    s.out(d, h, i) = stored(finished(d));
    s.out_rotated = rotate(s.out, {h, i}, i, z.v_head_dim, in.out_rotation, finished, stored);
    return s;
}

} // namespace gyre::attention
