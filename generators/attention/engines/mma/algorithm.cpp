#include "algorithm.h"

#include "attention/recurrence/scores.h"
#include "math/storage.h"
#include "passes/cuda/carried.h"
#include "passes/cuda/primitives.h"
#include "passes/cuda/warp_nest.h"

namespace gyre::attention {
using namespace Halide;
namespace {

Expr stored(const Expr &value, const Type &type) { return narrow(value, type, Bf16::as_casts); }
Expr loaded(const Expr &value) { return widen(value, Bf16::as_casts); }

/// Within the tensor, which tokens of packed sequences are by what the device's lists hold.
Expr query_token(const CudaInputs &in, const Expr &token) {
    return unsafe_promise_clamped(clamp(token, 0, in.sequences.queries - 1), 0, in.sequences.queries - 1);
}

/// Where a feature of a sequence's key is.
std::vector<Expr> key_element(const CudaInputs &in, const CudaSizes &sizes, const CudaTile &tile, const Expr &feature,
                              const Expr &head, const Expr &key) {
    const auto within = [](const Expr &index, const Expr &extent) {
        return unsafe_promise_clamped(index, 0, extent - 1);
    };
    const Expr token = tile.first_key(tile.t) + key;
    if (!sizes.paged && !sizes.may_be_paged()) return {feature, head, within(token, in.key_tokens), tile.z};
    const Expr bits = cast<uint32_t>(in.page_bits); // so that no shift asks for its sign
    const Expr slot = key & ((1 << bits) - 1), page = within(key >> bits, in.most_pages);
    const Expr entry = in.page_table(page, tile.of_sequence(tile.t));
    if (sizes.may_be_paged())
        return {feature, head, within(select(in.has_pages, slot, token), in.key_tokens),
                within(clamp(cuda::choose(in.has_pages, entry, tile.seen(tile.t, tile.z, tile.h)[3]), 0, in.pages - 1),
                       in.pages)};
    return {feature, head, within(slot, in.key_tokens), within(clamp(entry, 0, in.pages - 1), in.pages)};
}

} // namespace

CudaStages cuda_algorithm(const CudaInputs &in, const CudaSizes &sizes, const Func &out, const Func &lse,
                          const Type &type) {
    const int rows = sizes.query_rows, block = sizes.key_block;
    CudaStages s;
    s.sizes = sizes;
    s.out = out;
    s.lse = lse;
    const Var &d = s.d, &h = s.h, &x = s.x, &z = s.z, &i = s.i, &t = s.t, &j = s.j, &b = s.b;

    s.tile = cuda_tile(in.sequences, rows, block, t, z, h);
    const CudaTile &tile = s.tile;
    const Expr keys = tile.keys(t), first_row = tile.first_row(t), shift = tile.shift(t);
    const Expr key_head = unsafe_promise_clamped(tile.seen(t, z, h)[2], 0, in.key_heads - 1);
    const auto query_angle = [&](const cuda::AngleSource &angles, const Expr &of, const Expr &row) {
        return [=](const Expr &pair) {
            const Expr query = tile.query(row);
            return cuda::angle_at(angles, in.q_positions, pair, query_token(in, tile.first_query(of) + query),
                                  tile.entry, tile.keys(of) - tile.queries(of) + query);
        };
    };

    // Operands. Rows and keys that are not there are the last ones that are.
    s.q_staged = Func("q_staged");
    s.q_rotated = Func("q_rotated");
    s.q_rows = Func("q_rows");
    s.k_rows = Func("k_rows");
    s.v_rows = Func("v_rows");
    const Expr last_row = max(min(first_row + i, tile.row_count(t) - 1), 0);
    const Expr group = in.sequences.group, last_head = in.key_heads * group - 1;
    const Expr of_group = sizes.partial ? cuda::opaque_remainder(last_row, group) : Expr(0);
    const Expr row_query = sizes.partial ? cuda::opaque_quotient(last_row, group) : last_row;
    const Expr row_head = sizes.partial ? unsafe_promise_clamped(h * group + of_group, 0, last_head) : Expr(h);
    s.q_staged(d, i, t, h, z) = in.q(d, row_head, query_token(in, tile.first_query(t) + row_query), tile.entry);
    const auto query = [&](const Expr &feature) { return loaded(s.q_staged(feature, i, t, h, z)); };
    s.q_rotated(d, i, t, h, z) =
        stored(rotated_feature(in.rope, d, sizes.head_dim, +1, query_angle(in.angles, t, last_row), query), type);
    const Expr as_they_are = s.q_staged(d, i, t, h, z);
    const Expr either = cuda::choose(in.rope.count > 0, s.q_rotated(d, i, t, h, z), as_they_are);
    const Expr flipped =
        reinterpret<uint16_t>(either) ^ select(in.sign < 0.0f, cast<uint16_t>(0x8000), cast<uint16_t>(0));
    s.q_rows(d, i, t, h, z) = reinterpret(type, flipped);
    const Expr key = min(b * block + j, keys - 1);
    const auto staged = [&](const Func &from, const Expr &pairs, const Expr &interleaved, const Func &table,
                            int features) {
        const auto as_stored = [&](const Expr &feature) {
            return from(key_element(in, sizes, tile, feature, key_head, key));
        };
        if (sizes.as_stored) return Expr(as_stored(d));
        const Expr row =
            unsafe_promise_clamped(key + select(in.angles_by_token, tile.first_key(t), 0), 0, in.sequences.keys - 1);
        const auto of_table = [&](const Expr &pair, int which) { // there is none where nothing is rotated
            return cuda::choose(pairs > 0, table(pair, which, row, z), 0.0f);
        };
        const auto angle = [&](const Expr &pair) { return Tuple(of_table(pair, 0), of_table(pair, 1)); };
        const auto element = [&](const Expr &feature) { return loaded(as_stored(feature)); };
        return stored(rotated_feature({pairs, interleaved}, d, features, +1, angle, element), type);
    };
    s.k_rows(d, j, b, t, h, z) = staged(in.k, in.key_pairs, in.rope.interleaved, in.key_angles, sizes.head_dim);
    s.v_rows(d, j, b, t, h, z) =
        staged(in.v, in.value_pairs, in.value_rope.interleaved, in.value_key_angles, sizes.v_head_dim);

    // Scores, masked where a block meets an edge.
    s.scores = Func("scores");
    RDom e(0, cuda::tile_depth, 0, sizes.head_dim / cuda::tile_depth, "e");
    s.feature_of_tile = e.x;
    s.feature_tile = e.y;
    const Expr feature = e.y * cuda::tile_depth + e.x;
    s.scores(j, i, t, b, h, z) = 0.0f;
    s.scores(j, i, t, b, h, z) +=
        cast<float>(s.q_rows(feature, i, t, h, z)) * cast<float>(s.k_rows(feature, j, b, t, h, z));
    const Expr row = tile.query(first_row + i);
    s.head = cuda_head(in.scoring, h);
    if (sizes.general) {
        RDom n(0, block, "scored");
        s.scored_keys.push_back(n);
        s.scores(n, i, t, b, h, z) *= in.scale;
        for (const CudaHead::Change &change : s.head.changes()) {
            RDom c(0, block, "changed" + std::to_string(s.scored_keys.size()));
            c.where(change.where);
            s.scored_keys.push_back(c);
            s.scores(c, i, t, b, h, z) =
                change.changed(s.scores(c, i, t, b, h, z), {min(b * block + c, keys - 1), tile.query(last_row), h,
                                                            tile.entry, b * block + c - row - shift});
        }
    }
    const Expr scale = sizes.general ? Expr(1.0f) : in.scale; // of what scores are now
    RDom m(0, block, "m");
    s.masked_key = m;
    const auto first_seen = [&](const Expr &row) { return row + shift - in.sequences.left; };
    const auto last_seen = [&](const Expr &row) { return min(row + shift + in.sequences.right, keys - 1); };
    const Expr at_edge = b * block + block - 1 > tile.common(t, z, h)[1] || b * block < tile.common(t, z, h)[0];
    m.where(at_edge);
    const auto sees = [&](const Expr &key_of_block) {
        const Expr key = b * block + key_of_block;
        return key >= first_seen(row) && key <= last_seen(row);
    };
    s.scores(m, i, t, b, h, z) = cuda::opaque_select(sees(m), s.scores(m, i, t, b, h, z), masked_score);

    // Softmax of the block.
    RDom c(0, cuda::tile_columns, 0, block / cuda::tile_columns, "c");
    s.column = c.x;
    s.columns = c.y;
    const Expr along = c.y * cuda::tile_columns + c.x;
    s.maximum = Func("maximum");
    s.keep = Func("keep");
    s.block_sum = Func("block_sum");
    s.powers = Func("powers");
    s.weights = Func("weights");
    s.state = Func("state");
    const auto before = [&](int element, const Expr &feature) { // what the blocks before left in the state
        return cuda::carried(s.state.name(), element, Float(32), {feature, i}, {sizes.v_head_dim}, b);
    };
    s.maximum(i, t, b, h, z) = before(0, 0);
    s.maximum(i, t, b, h, z) = max(s.maximum(i, t, b, h, z), s.scores(along, i, t, b, h, z));
    const Expr top = s.maximum(i, t, b, h, z); // of a row that sees nothing: all powers are 0
    constexpr float lowest_top = masked_score / 2 + least_score / 2;
    s.keep(i, t, b, h, z) = cuda::exp2_approx((before(0, 0) - top) * scale);
    s.powers(j, i, t, b, h, z) =
        cuda::exp2_approx(s.scores(j, i, t, b, h, z) * scale - select(top > lowest_top, top * scale, 0.0f));
    s.block_sum(i, t, b, h, z) = 0.0f;
    s.block_sum(i, t, b, h, z) += s.powers(along, i, t, b, h, z);
    s.weights(j, i, t, b, h, z) = stored(s.powers(j, i, t, b, h, z), type);

    // Values, folded into the state. Weights of masked keys are 0, and 0 times what is not finite is NaN: where some row does not
    // see all keys of a block, and some value is not finite, rows take only what they see. Of finite values the bits are the same.
    s.flawed = Func("flawed");
    const auto corner = [&](const Expr &key) { return s.v_rows(0, key, b, t, h, z); };
    RDom f(0, 1, "flaws");
    f.where(sizes.general ? at_edge || s.head.may_mask() : at_edge);
    s.flawed(t, b, h, z) = 0;
    s.flawed(t, b, h, z) =
        cuda::any_not_finite(corner(f), corner(f + 1), block, sizes.v_head_dim, rows / cuda::tile_rows);
    s.weighted = Func("weighted");
    s.weighted(d, i, t, b, h, z) = before(2, d) * s.keep(i, t, b, h, z);
    const auto product_of = [&](bool flawed, RVar *key_of_tile, RVar *key_tile) {
        RDom u(0, cuda::tile_depth, 0, block / cuda::tile_depth, flawed ? "w" : "u");
        u.where(flawed ? s.flawed(t, b, h, z) != 0 : s.flawed(t, b, h, z) == 0);
        *key_of_tile = u.x;
        *key_tile = u.y;
        const Expr of_block = u.y * cuda::tile_depth + u.x;
        const Expr weight = cast<float>(s.weights(of_block, i, t, b, h, z));
        const Expr value = cast<float>(s.v_rows(d, of_block, b, t, h, z));
        const Expr seen = sizes.general ? s.scores(of_block, i, t, b, h, z) != masked_score : sees(of_block);
        s.weighted(d, i, t, b, h, z) += flawed ? cuda::product_of_seen(weight, value, seen) : weight * value;
    };
    product_of(false, &s.key_of_tile, &s.key_tile);
    product_of(true, &s.seen_key, &s.seen_tile);
    RDom blocks(0, (in.sequences.keys + block - 1) / block, "blocks");
    s.block = blocks;
    s.state(d, i, t, h, z) = Tuple(masked_score, 0.0f, 0.0f);
    const FuncRef old = s.state(d, i, t, h, z);
    s.state(d, i, t, h, z) =
        Tuple(s.maximum(i, t, blocks, h, z), old[1] * s.keep(i, t, blocks, h, z) + s.block_sum(i, t, blocks, h, z),
              s.weighted(d, i, t, blocks, h, z));

    // The epilogue.
    s.out_rows = Func("out_rows");
    s.lse_rows = Func("lse_rows");
    const FuncRef all = s.state(d, i, t, h, z), end = s.state(0, i, t, h, z);
    const auto total = [&](const FuncRef &of) {
        if (sizes.general) return s.head.with_sink(of[0], of[1], h);
        return Tuple(of[1], 1.0f, of[0] * scale);
    };
    const Tuple of_all = total(all), of_end = total(end);
    // Rows lie turned against each other, by 8 features each, so that those which a warp stores at once are in different banks.
    const int runs = sizes.v_head_dim / cuda::tile_columns;
    const auto turned = [&](const Expr &feature, const Expr &of_row) {
        const Expr run = (feature / cuda::tile_columns + of_row) % runs;
        return unsafe_promise_clamped(run * cuda::tile_columns + feature % cuda::tile_columns, 0, sizes.v_head_dim - 1);
    };
    s.out_rows(d, i, t, h, z) = cuda::placed(select(all[1] == 0.0f, 0.0f, all[2] * (of_all[1] / of_all[0])),
                                             turned(d, i) - d, Internal::const_true());
    const Expr nothing = reinterpret<float>(Expr(0xff800000u)); // -inf
    s.lse_rows(i, t, h, z) = select(end[1] == 0.0f, nothing, (of_end[2] + cuda::log2_approx(of_end[0])) * ln_2);
    const Expr of = x / rows, end_row = tile.first_row(of) + x % rows;
    const Expr exists = end_row >= 0 && end_row < tile.row_count(of);
    const auto result = [&](const Expr &feature) { return s.out_rows(turned(feature, x % rows), x % rows, of, h, z); };
    const Expr value =
        rotated_feature(in.value_rope, d, sizes.v_head_dim, -1, query_angle(in.value_angles, of, end_row), result);
    const Expr token = tile.first_query(of) + tile.query(end_row), of_heads = tile.of_heads(end_row);
    const Expr heads = in.key_heads * in.sequences.group;
    if (sizes.partial) { // [z][token][head][d], of which h is several heads and x stands still, and [z][head][token]
        s.out(d, h, x, z) = cuda::placed(value, (token * heads + of_heads) * sizes.v_head_dim, exists);
        s.lse(x, h, z) =
            cuda::placed(s.lse_rows(x % rows, of, h, z), of_heads * in.sequences.queries + token - x, exists);
    } else {
        const Expr distance = tile.first_query(of) + tile.first_row(of) - of * rows;
        s.out(d, h, x, z) = cuda::placed(stored(value, type), distance * in.out_stride, exists);
        s.lse(x, h, z) = cuda::placed(s.lse_rows(x % rows, of, h, z), distance, exists);
    }
    return s;
}

} // namespace gyre::attention
