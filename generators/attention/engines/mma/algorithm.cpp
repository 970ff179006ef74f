#include "algorithm.h"

#include "attention/recurrence/scores.h"
#include "common/dropout.h"
#include "math/storage.h"
#include "operands.h"
#include "passes/cuda/carried.h"
#include "passes/cuda/primitives.h"
#include "passes/cuda/warp_nest.h"
#include "results.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// The weight of key j of the block for row i, or 0 if that is dropped.
Expr kept_weight(const CudaInputs &in, const CudaStages &s, const Expr &weight) {
    const CudaDropout &d = in.dropout;
    const Expr heads = in.key_heads * in.sequences.group;
    const Expr head = (in.first_entry + s.tile.of_sequence(s.t)) * heads + s.h;
    const Expr first_key = s.b * s.sizes.key_block, row = s.tile.first_row(s.t) + s.i;
    const Dropout of_head{d.threshold, d.keep_scale, d.seed_low, d.seed_high, d.offset, head, 0, first_key};
    const auto words = dropout_words(of_head, row, s.j / keys_of_draw);
    const Expr word = mux(s.j % keys_of_draw, {words[0], words[1], words[2], words[3]});
    return cuda::opaque_select(word < d.threshold, 0.0f, weight);
}

} // namespace

CudaStages cuda_algorithm(const CudaInputs &in, const CudaSizes &sizes, const Func &out, const Func &lse,
                          const Type &type) {
    const int rows = sizes.query_rows, block = sizes.key_block;
    CudaStages s;
    s.sizes = sizes;
    s.out = out;
    s.lse = lse;
    const Var &d = s.d, &h = s.h, &z = s.z, &i = s.i, &t = s.t, &j = s.j, &b = s.b;

    s.tile = cuda_tile(in.sequences, rows, block, t, z, h);
    const CudaTile &tile = s.tile;
    const Expr keys = tile.keys(t), first_row = tile.first_row(t), shift = tile.shift(t);

    define_operands(s, in, type);

    // Scores, masked where a block meets an edge.
    s.scores = Func("scores");
    RDom e(0, cuda::tile_depth, 0, sizes.head_dim / cuda::tile_depth, "e");
    s.feature_of_tile = e.x;
    s.feature_tile = e.y;
    const Expr feature = e.y * cuda::tile_depth + e.x;
    s.scores(j, i, t, b, h, z) = 0.0f;
    s.scores(j, i, t, b, h, z) += cast<float>(staged_query(s, feature)) * cast<float>(staged_key(s, feature, j, b));
    const Expr row = tile.query(first_row + i);
    s.head = cuda_head(in.scoring, h, sizes.partial);
    if (sizes.general) {
        const RowOfHeads of_row = row_of_heads(in, sizes, tile, i, h);
        if (sizes.has_slopes()) {
            s.slopes = Func("slopes");
            s.slopes(i, t, h, z) = s.head.slope(of_row.head);
        }
        const Expr slope = sizes.has_slopes() ? Expr(s.slopes(i, t, h, z)) : s.head.numbers(h)[0];
        RDom n(0, block, "scored");
        s.scored_keys.push_back(n);
        s.scores(n, i, t, b, h, z) *= in.scale;
        for (const CudaHead::Change &change : s.head.changes()) {
            RDom c(0, block, "changed" + std::to_string(s.scored_keys.size()));
            c.where(change.where);
            s.scored_keys.push_back(c);
            const Expr key = min(b * block + c, keys - 1);
            const ScorePoint point{Expr(),      in.first_entry + tile.of_sequence(t),
                                   of_row.head, of_row.query,
                                   key,         of_row.query + shift,
                                   key,         tile.queries(t),
                                   keys};
            const ScoreInputs::Part part{tile.of_sequence(t), of_row.head,       tile.first_query(t),
                                         tile.queries(t),     tile.first_key(t), keys};
            s.scores(c, i, t, b, h, z) = change.changed(
                s.scores(c, i, t, b, h, z),
                {{key, of_row.query, of_row.head, tile.entry}, b * block + c - row - shift, slope, point, part});
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
    // What weights are relative to stays as it was until they would be above 2^8: then little is rescaled, and nothing is lost, because
    // their sum is relative to the same.
    constexpr float largest_power = 8;
    const Expr found = s.maximum(i, t, b, h, z);
    s.maximum(i, t, b, h, z) = select((found - before(0, 0)) * scale > largest_power, found, before(0, 0));
    const Expr top = s.maximum(i, t, b, h, z); // of a row that sees nothing: all powers are 0
    constexpr float lowest_top = masked_score / 2 + least_score / 2;
    s.keep(i, t, b, h, z) = cuda::exp2_approx((before(0, 0) - top) * scale);
    // A difference, so that the largest score weighs 1 however large it is: of a product that is rounded once with the subtraction, and one
    // that is rounded before, it would be off by the rounding.
    s.powers(j, i, t, b, h, z) =
        cuda::exp2_approx((s.scores(j, i, t, b, h, z) - select(top > lowest_top, top, 0.0f)) * scale);
    s.block_sum(i, t, b, h, z) = 0.0f;
    s.block_sum(i, t, b, h, z) += s.powers(along, i, t, b, h, z);
    Expr weight_of_power = s.powers(j, i, t, b, h, z);
    if (in.dropout.threshold.defined()) weight_of_power = kept_weight(in, s, weight_of_power);
    s.weights(j, i, t, b, h, z) = narrow(weight_of_power, type, Bf16::as_casts);

    // Values, folded into the state. Weights of masked keys are 0, and 0 times what is not finite is NaN: where some row does not
    // see all keys of a block, and some value is not finite, rows take only what they see. Of finite values the bits are the same.
    s.flawed = Func("flawed");
    const int columns = columns_of_values(sizes);
    const auto corner = [&](const Expr &row_of_block) { return row_of_values(s, row_of_block, b); };
    RDom f(0, 1, "flaws");
    f.where(sizes.general ? at_edge || s.head.may_mask() : at_edge);
    s.flawed(t, b, h, z) = 0;
    s.flawed(t, b, h, z) =
        cuda::any_not_finite(corner(f), corner(f + 1), block * sizes.v_head_dim / columns, columns, sizes.warps);
    s.weighted = Func("weighted");
    s.weighted(d, i, t, b, h, z) = cuda::rescaled(before(2, d), s.keep(i, t, b, h, z));
    const auto product_of = [&](bool flawed, RVar *key_of_tile, RVar *key_tile) {
        RDom u(0, cuda::tile_depth, 0, block / cuda::tile_depth, flawed ? "w" : "u");
        u.where(flawed ? s.flawed(t, b, h, z) != 0 : s.flawed(t, b, h, z) == 0);
        *key_of_tile = u.x;
        *key_tile = u.y;
        const Expr of_block = u.y * cuda::tile_depth + u.x;
        const Expr weight = cast<float>(s.weights(of_block, i, t, b, h, z));
        const Expr value = cast<float>(staged_value(s, d, of_block, b));
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

    define_results(s, in, type);
    return s;
}

} // namespace gyre::attention
