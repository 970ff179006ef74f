#include "tile.h"

#include "passes/cuda/primitives.h"

namespace gyre::gradients {
using namespace Halide;
namespace {

Expr within(const Expr &index, const Expr &extent) {
    return unsafe_promise_clamped(clamp(index, 0, extent - 1), 0, extent - 1);
}

} // namespace

Tile::Sight Tile::sight(const Expr &of) const {
    const Expr columns = lengths(of, z, h)[4], used = lengths(of, z, h)[5];
    const Expr queries = in.of_keys ? columns : row_count(of);
    const Expr shift = select(in.bottom_right, used - queries, 0); // query i stands at key i + shift
    if (in.of_keys) return {-shift, in.right, in.left, columns, min(row_count(of), used)};
    return {shift, in.left, in.right, used, row_count(of)};
}

Expr Tile::row_token(const Expr &of, const Expr &row) const { return within(first_row_token(of) + row, in.rows); }

Expr Tile::first_column(const Expr &turn, int block) const {
    const Expr blocks = max(turns(t, z, h)[3], 1);
    return (turns(t, z, h)[2] + (in.of_keys ? cuda::opaque_remainder(turn, blocks) : turn)) * block;
}

Expr Tile::column_head(const Expr &turn) const {
    const Expr of_row =
        in.of_keys ? h * in.group + cuda::opaque_quotient(turn, max(turns(t, z, h)[3], 1)) : h / in.group;
    return unsafe_promise_clamped(of_row, 0, in.column_heads - 1);
}

Expr Tile::existing_column(const Expr &column) const { return max(min(column, lengths(t, z, h)[4] - 1), 0); }

Expr Tile::column_token(const Expr &column) const {
    return within(lengths(t, z, h)[3] + existing_column(column), in.columns);
}

Expr Tile::distance(const Expr &row, const Expr &column) const {
    const Expr from_row = column - (row + sight(t).origin);
    return in.of_keys ? -from_row : from_row;
}

Expr Tile::sees(const Expr &row, const Expr &column) const {
    const Sight s = sight(t);
    const Expr from = row + s.origin;
    const Expr seen = column >= from - s.before && column <= min(from + s.after, s.limit - 1);
    return in.of_keys ? seen && row < s.rows : seen;
}

Expr Tile::at_edge(const Expr &first, int block) const {
    return first + block - 1 > common(t, z, h)[1] || first < common(t, z, h)[0];
}

Tile tile_of(const Sequences &in, int tile_rows, int block, const Var &t, const Var &z, const Var &h) {
    Tile s;
    s.t = t;
    s.z = z;
    s.h = h;
    s.in = in;
    RDom before(1, in.packed_count - 1, "before");
    s.before = before;
    s.sequence = Func("sequence");
    s.sequence(t, z) = z;
    s.sequence(t, z) += select(in.row_bounds(before) / tile_rows + before <= t, 1, 0);
    const Expr sequence = unsafe_promise_clamped(s.sequence(t, z), 0, in.sequences - 1);
    const auto begin = [&](const Func &bounds, const Expr &total) {
        return cuda::choose(in.packed, clamp(bounds(sequence), 0, total), 0);
    };
    const auto length = [&](const Func &bounds, const Expr &total, const Expr &first) {
        return cuda::choose(in.packed, max(min(bounds(sequence + 1), total) - first, 0), total);
    };
    const Expr row_begin = begin(in.row_bounds, in.rows), column_begin = begin(in.column_bounds, in.columns);
    const Expr rows = length(in.row_bounds, in.rows, row_begin),
               columns = length(in.column_bounds, in.columns, column_begin);
    const Expr keys = in.of_keys ? rows : columns;
    const Expr first_tile = select(in.packed, row_begin / tile_rows + sequence, 0);
    s.lengths = Func("lengths");
    s.lengths(t, z, h) = Tuple(row_begin, rows, (t - first_tile) * tile_rows, column_begin, columns,
                               cuda::choose(in.has_used_keys, clamp(in.used_keys(sequence), 0, keys), keys));

    const Tile::Sight sight = s.sight(t);
    const Expr first_row = s.first_row(t), end_row = min(first_row + tile_rows, sight.rows);
    const Expr first = max(first_row + sight.origin - sight.before, 0);
    const Expr end = min(end_row - 1 + sight.origin + sight.after + 1, sight.limit);
    const Expr first_block = first / block;
    const Expr blocks = select(end > first && end_row > first_row, (end + block - 1) / block - first_block, 0);
    s.turns = Func("turns");
    s.turns(t, z, h) = Tuple(0, in.of_keys ? blocks * in.group : blocks, first_block, blocks);
    const Expr last_row = first_row + tile_rows - 1;
    const Expr last_common = min(first_row + sight.origin + sight.after, sight.limit - 1);
    s.common = Func("common");
    s.common(t, z, h) = Tuple(last_row + sight.origin - sight.before,
                              in.of_keys ? select(last_row < sight.rows, last_common, -1) : last_common);
    return s;
}

} // namespace gyre::gradients
