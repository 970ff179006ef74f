#include "swizzle.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

Expr swizzled(const Expr &column, const Expr &row) {
    constexpr int of_row = panel_columns / swizzled_at_once;
    const Expr run = ((column / swizzled_at_once) ^ row) % of_row; // which bounds it, for Halide
    return run * swizzled_at_once + column % swizzled_at_once;
}

SwizzledOperand read_swizzled_operand(const WarpNest &nest, const Expr &index, const WarpLoop &tiles, int tile,
                                      int columns, const std::string &depth_loop, int depth) {
    const Expr of_depth = simplify(depth_loop.empty() ? index : substitute(depth_loop, depth, index));
    const auto at = [&](int k, int column) {
        const Expr of_tile = substitute(tiles.name, tile + column / tile_columns, of_depth);
        return simplify(substitute(nest.column, column % tile_columns, substitute(nest.depth, k, of_tile)));
    };
    return read_swizzled_operand(nest, at, columns);
}

SwizzledOperand read_swizzled_rows(const WarpNest &nest, const Expr &index, const std::string &depth_loop, int depth) {
    const Expr of_depth = simplify(depth_loop.empty() ? index : substitute(depth_loop, depth, index));
    const auto of_group = [&](int group) {
        return [&nest, of_depth, group](int k, int row) {
            const int warp = group * warps_of_group + row / tile_rows;
            const Expr of_warp = substitute(warp_index, warp, substitute(nest.row, row % tile_rows, of_depth));
            return simplify(substitute(nest.depth, k, of_warp));
        };
    };
    const SwizzledOperand first = read_swizzled_operand(nest, of_group(0), rows_of_group);
    const SwizzledOperand next = read_swizzled_operand(nest, of_group(1), rows_of_group);
    nest.require(!first.transposed &&
                     is_const(simplify(next.first - first.first), int64_t{rows_of_group} * panel_columns),
                 "has a left operand whose rows of warpgroups do not follow each other");
    return first;
}

SwizzledOperand read_swizzled_operand(const WarpNest &nest, const std::function<Expr(int, int)> &at, int columns) {
    SwizzledOperand found;
    found.first = at(0, 0);
    const auto from_first = [&](int k, int column) {
        const auto distance = as_const_int(simplify(at(k, column) - found.first));
        nest.require(distance.has_value(), "has an operand in shared memory at places that are not constant");
        return static_cast<int>(*distance);
    };
    found.transposed = from_first(0, 1) == 1;
    if (found.transposed && columns > panel_columns) found.panel = from_first(0, panel_columns);
    const auto run_at = [](int run, int row) { return (run ^ row % swizzled_rows) * swizzled_at_once; };
    constexpr int last_row = swizzled_rows - 1; // of a pattern, in which each run is as far from its place as no other
    int begin = 0;                              // run of the panel at which the depth begins
    while (!found.transposed && begin < panel_columns / swizzled_at_once &&
           from_first(0, last_row) != last_row * panel_columns + run_at(begin, last_row) - run_at(begin, 0))
        begin += tile_depth / swizzled_at_once;
    constexpr int pattern = panel_columns * swizzled_rows;
    nest.require(is_const_zero(simplify((found.first - begin * swizzled_at_once) % pattern)),
                 "has an operand in shared memory that begins within a pattern of swizzled rows");
    for (int k = 0; k < tile_depth; k++)
        for (int column = 0; column < columns; column++) {
            const int run = found.transposed ? column % panel_columns / swizzled_at_once : begin + k / swizzled_at_once;
            const int row = found.transposed ? k : column;
            const int place = (found.transposed ? column / panel_columns * found.panel : 0) + row * panel_columns +
                              run_at(run, row) + (found.transposed ? column : k) % swizzled_at_once;
            nest.require(from_first(k, column) == place - begin * swizzled_at_once,
                         "has an operand in shared memory that is not swizzled as warpgroups read it");
        }
    return found;
}

} // namespace gyre::cuda
