/// How products of warpgroups want their right operand in shared memory: rows of 64 numbers of 16 bits, in which 16 bytes stand elsewhere in
/// each of eight rows (128-byte swizzling of PTX ISA), so that neither rows nor columns meet in a bank.
///
/// An algorithm lays its rows out so: a Func of (column of a panel, row, panel, …) holds at `column` what is of swizzled(column, row),
/// and is read at swizzled(column, row).
#pragma once
#include "warp_nest.h"

#include <functional>

namespace gyre::cuda {

constexpr int panel_columns = 64, swizzled_at_once = 8, swizzled_rows = 8;
constexpr int swizzle_alignment = 1024; // bytes of a pattern, which begins at a multiple of that
constexpr int warps_of_group = 4;

/// Where a column of a panel is in its row, or what column is there.
Halide::Expr swizzled(const Halide::Expr &column, const Halide::Expr &row);

/// A right operand of 16 numbers along the depth and some columns, as a descriptor finds it.
struct SwizzledOperand {
    Halide::Expr first;      // element at which the descriptor begins
    bool transposed = false; // neighbours are along the columns, else along the depth
    int panel = 0;           // elements between neighbouring panels of columns; 0: there is one
};

/// Reads an operand whose element (k, column) is at the place that `at` tells, of `columns` columns. Every element is looked at: an operand in
/// another layout stops the build.
SwizzledOperand read_swizzled_operand(const WarpNest &nest, const std::function<Halide::Expr(int k, int column)> &at,
                                      int columns);

/// Reads the operand at tile `tile` along the columns and turn `depth` of the loop over the depth.
SwizzledOperand read_swizzled_operand(const WarpNest &nest, const Halide::Expr &index, const WarpLoop &tiles, int tile,
                                      int columns, const std::string &depth_loop, int depth);

/// Reads the left operand of a warpgroup's 64 rows, of the first warpgroup; those of the next ones lie after it.
SwizzledOperand read_swizzled_rows(const WarpNest &nest, const Halide::Expr &index, const std::string &depth_loop,
                                   int depth);
constexpr int rows_of_group = warps_of_group * tile_rows;

} // namespace gyre::cuda
