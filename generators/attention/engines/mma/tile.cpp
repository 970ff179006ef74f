#include "tile.h"

#include "passes/cuda/primitives.h"

namespace gyre::attention {
using namespace Halide;

Expr CudaTile::of_sequence(const Expr &of) const { return unsafe_promise_clamped(sequence(of, z), 0, sequences - 1); }

Expr CudaTile::shift(const Expr &of) const { return select(bottom_right, keys(of) - queries(of), 0); }

CudaTile cuda_tile(const CudaSequences &in, int query_rows, int key_block, const Var &t, const Var &z, const Var &h) {
    CudaTile s;
    s.t = t;
    s.z = z;
    s.h = h;
    s.bottom_right = in.bottom_right;
    s.sequences = in.sequences;
    s.entry = in.folded ? z % in.entries : Expr(z);
    if (in.folded) s.fold = in.group;
    const auto row_of = [&](const Expr &query) { return in.folded ? query * in.group : query; };
    RDom before(1, in.packed_count - 1, "before");
    s.before = before;
    s.sequence = Func("sequence");
    s.sequence(t, z) = s.entry;
    s.sequence(t, z) += select(row_of(in.q_bounds(before)) / query_rows + before <= t, 1, 0);

    const Expr sequence = s.of_sequence(t);
    const auto begin = [&](const Expr &packed, const Func &bounds, const Expr &total) {
        return cuda::choose(packed, clamp(bounds(sequence), 0, total), 0);
    };
    const auto length = [&](const Expr &packed, const Func &bounds, const Expr &total, const Expr &first) {
        return cuda::choose(packed, max(min(bounds(sequence + 1), total) - first, 0), total);
    };
    const Expr q_first = begin(in.packed_q, in.q_bounds, in.queries);
    const Expr k_first = begin(in.packed_k, in.k_bounds, in.keys);
    const Expr k_length = length(in.packed_k, in.k_bounds, in.keys, k_first);
    const Expr first_tile = select(in.packed_q, row_of(q_first) / query_rows + sequence, 0);
    s.rows = Func("rows");
    s.rows(t, z, h) =
        Tuple(q_first, row_of(length(in.packed_q, in.q_bounds, in.queries, q_first)), (t - first_tile) * query_rows,
              k_first, cuda::choose(in.has_used_keys, clamp(in.used_keys(sequence), 0, k_length), k_length));

    const Expr first_row = s.first_row(t), last_row = min(first_row + query_rows, s.row_count(t)) - 1;
    const Expr first_key = max(s.query(first_row) + s.shift(t) - in.left, 0);
    const Expr end_key = min(s.query(last_row) + s.shift(t) + in.right + 1, s.keys(t));
    s.seen = Func("seen");
    const Expr first = first_key / key_block;
    const Expr of_keys = select(in.packed_k, s.entry, sequence); // packed queries may have an entry of keys each
    const Expr end = select(end_key > first_key && last_row >= first_row, (end_key + key_block - 1) / key_block, 0);
    if (in.folded) {
        const Expr blocks = max(end - first, 0), part = z / in.entries;
        s.seen(t, z, h) = Tuple(first + blocks * part / in.parts, first + blocks * (part + 1) / in.parts, h, of_keys);
    } else {
        s.seen(t, z, h) = Tuple(first, end, h / in.group, of_keys);
    }
    const Expr of_first = s.query(first_row) + s.shift(t), of_last = s.query(first_row + query_rows - 1) + s.shift(t);
    s.common = Func("common");
    s.common(t, z, h) = Tuple(of_last - in.left, min(of_first + in.right, s.keys(t) - 1));
    return s;
}

} // namespace gyre::attention
