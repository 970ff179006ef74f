#include "attention_cuda_algorithm.h"

#include "../common/storage.h"
#include "../cuda/primitives.h"
#include "../cuda/warp_nest.h"
#include "attention_algorithm.h"

namespace gyre::attention {
using namespace Halide;
namespace {

Expr stored(const Expr &value, const Type &type) { return narrow(value, type, Bf16::as_casts); }
Expr loaded(const Expr &value) { return widen(value, Bf16::as_casts); }

} // namespace

CudaStages cuda_algorithm(const CudaInputs &in, const CudaSizes &sizes, const Func &out, const Func &lse,
                          const Type &type) {
    const int rows = sizes.query_rows, block = sizes.key_block;
    CudaStages s;
    s.sizes = sizes;
    s.out = out, s.lse = lse;
    const Var &d = s.d, &h = s.h, &x = s.x, &z = s.z, &i = s.i, &t = s.t, &j = s.j, &b = s.b;

    // What a tile of queries sees. A query i stands among the keys at i + shift.
    const auto shift_of = [&](const Expr &keys) { return select(in.bottom_right, keys - in.queries, 0); };
    const Expr count = cuda::choose(in.has_key_counts, clamp(in.key_counts(z), 0, in.keys), in.keys);
    const Expr first_row = t * rows, last_row = min(t * rows + rows, in.queries) - 1;
    const Expr first_key = max(first_row + shift_of(count) - in.left, 0);
    const Expr end_key = min(last_row + shift_of(count) + in.right + 1, count);
    s.seen = Func("seen");
    s.seen(t, z, h) =
        Tuple(count, first_key / block, select(end_key > first_key, (end_key + block - 1) / block, 0), h / in.group);
    const Expr keys = s.seen(t, z, h)[0];
    const Expr key_head = unsafe_promise_clamped(s.seen(t, z, h)[3], 0, in.key_heads - 1);
    const Expr shift = shift_of(keys);

    // Operands. Rows and keys that are not there are the last ones that are.
    s.q_staged = Func("q_staged"), s.q_rows = Func("q_rows");
    s.k_rows = Func("k_rows"), s.v_rows = Func("v_rows");
    const Expr token = unsafe_promise_clamped(min(t * rows + i, in.queries - 1), 0, in.queries - 1);
    CudaPositions q_positions = in.q_positions;
    q_positions.first = keys - in.queries;
    const auto query = [&](const Expr &feature) { return loaded(in.q(feature, h, token, z)); };
    s.q_staged(d, i, t, h, z) =
        stored(in.sign * rotated_feature(in.rope, q_positions, token, z, d, sizes.head_dim, +1, query), type);
    s.q_rows(d, i, t, h, z) = s.q_staged(d, i, t, h, z);
    const Expr key = unsafe_promise_clamped(min(b * block + j, keys - 1), 0, in.keys - 1);
    const auto staged = [&](const Func &from, const CudaRotation &rotation, const Expr &rotate, int features) {
        const auto element = [&](const Expr &feature) { return loaded(from(feature, key_head, key, z)); };
        if (sizes.as_stored) return Expr(from(d, key_head, key, z));
        CudaRotation on = rotation;
        on.pairs = select(rotate, rotation.pairs, 0);
        return stored(rotated_feature(on, in.k_positions, key, z, d, features, +1, element), type);
    };
    s.k_rows(d, j, b, t, h, z) = staged(in.k, in.rope, in.rotate_keys, sizes.head_dim);
    s.v_rows(d, j, b, t, h, z) = staged(in.v, in.value_rope, in.rotate_values, sizes.v_head_dim);

    // Scores, masked where a block meets an edge.
    s.scores = Func("scores");
    RDom e(0, cuda::tile_depth, 0, sizes.head_dim / cuda::tile_depth, "e");
    s.feature_of_tile = e.x, s.feature_tile = e.y;
    const Expr feature = e.y * cuda::tile_depth + e.x;
    s.scores(j, i, t, b, h, z) = 0.0f;
    s.scores(j, i, t, b, h, z) +=
        cast<float>(s.q_rows(feature, i, t, h, z)) * cast<float>(s.k_rows(feature, j, b, t, h, z));
    RDom m(0, block, "m");
    s.masked_key = m;
    const auto first_seen = [&](const Expr &row) { return row + shift - in.left; };
    const auto last_seen = [&](const Expr &row) { return min(row + shift + in.right, keys - 1); };
    m.where(b * block + block - 1 > last_seen(t * rows) || b * block < first_seen(t * rows + rows - 1));
    const Expr row = t * rows + i;
    s.scores(m, i, t, b, h, z) = cuda::opaque_select(
        b * block + m >= first_seen(row) && b * block + m <= last_seen(row), s.scores(m, i, t, b, h, z), masked_score);

    // Softmax of the block.
    RDom c(0, cuda::tile_columns, 0, block / cuda::tile_columns, "c");
    s.column = c.x, s.columns = c.y;
    const Expr along = c.y * cuda::tile_columns + c.x;
    s.block_max = Func("block_max"), s.block_sum = Func("block_sum");
    s.powers = Func("powers"), s.weights = Func("weights");
    s.block_max(i, t, b, h, z) = masked_score;
    s.block_max(i, t, b, h, z) = max(s.block_max(i, t, b, h, z), s.scores(along, i, t, b, h, z));
    const Expr top = s.block_max(i, t, b, h, z); // of a row that sees nothing: all powers are 0
    s.powers(j, i, t, b, h, z) =
        cuda::exp2_approx(s.scores(j, i, t, b, h, z) * in.scale - select(top > masked_score / 2, top * in.scale, 0.0f));
    s.block_sum(i, t, b, h, z) = 0.0f;
    s.block_sum(i, t, b, h, z) += s.powers(along, i, t, b, h, z);
    s.weights(j, i, t, b, h, z) = stored(s.powers(j, i, t, b, h, z), type);

    // Values, folded into the state.
    RDom u(0, cuda::tile_depth, 0, block / cuda::tile_depth, "u");
    s.key_of_tile = u.x, s.key_tile = u.y;
    const Expr of_block = u.y * cuda::tile_depth + u.x;
    s.weighted = Func("weighted");
    s.weighted(d, i, t, b, h, z) = 0.0f;
    s.weighted(d, i, t, b, h, z) +=
        cast<float>(s.weights(of_block, i, t, b, h, z)) * cast<float>(s.v_rows(d, of_block, b, t, h, z));
    RDom blocks(0, (in.keys + block - 1) / block, "blocks");
    s.block = blocks;
    s.state = Func("state");
    s.state(d, i, t, h, z) = Tuple(masked_score, 0.0f, 0.0f);
    const FuncRef old = s.state(d, i, t, h, z);
    const Expr of_this = s.block_max(i, t, blocks, h, z), maximum = max(old[0], of_this);
    const Expr keep = cuda::exp2_approx((old[0] - maximum) * in.scale);
    const Expr add = cuda::exp2_approx((of_this - maximum) * in.scale);
    s.state(d, i, t, h, z) = Tuple(maximum, old[1] * keep + s.block_sum(i, t, blocks, h, z) * add,
                                   old[2] * keep + s.weighted(d, i, t, blocks, h, z) * add);

    // The epilogue.
    s.out_rows = Func("out_rows"), s.lse_rows = Func("lse_rows");
    const Expr sum = s.state(d, i, t, h, z)[1];
    s.out_rows(d, i, t, h, z) = select(sum == 0.0f, 0.0f, s.state(d, i, t, h, z)[2] * (1.0f / sum));
    const FuncRef end = s.state(0, i, t, h, z);
    const Expr nothing = reinterpret<float>(Expr(0xff800000u)); // -inf
    s.lse_rows(i, t, h, z) = select(end[1] == 0.0f, nothing, (end[0] * in.scale + cuda::log2_approx(end[1])) * ln_2);
    const auto result = [&](const Expr &of) { return s.out_rows(of, x % rows, x / rows, h, z); };
    q_positions.first = s.seen(x / rows, z, h)[0] - in.queries;
    s.out(d, h, x, z) =
        stored(rotated_feature(in.value_rope, q_positions, x, z, d, sizes.v_head_dim, -1, result), type);
    s.lse(x, h, z) = s.lse_rows(x % rows, x / rows, h, z);
    return s;
}

} // namespace gyre::attention
