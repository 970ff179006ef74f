/// Matrix products of bf16 on the tile registers of a processor (Intel AMX).
///
/// A schedule names three loops of a product, and leaves them serial with 16, 16 and 32 turns:
///
///     for tile_row: for tile_column: acc[…] = 0
///     for tile_row: for tile_column: for tile_depth: acc[…] += a[row, depth] * b[depth, column]
///     for tile_row: for tile_column: out[…] = acc[…]
///
/// Such a nest becomes one instruction: zero, load both operands and multiply, store. `acc`, f32, must be used by these
/// nests alone, and is then kept in tile registers. A nest that adds b[depth, column] alone, as where all of a is 1, becomes
/// sums of b's columns by vdpbf16ps, and its accumulator is a vector. In memory
///     a   rows of bf16, dense along depth, or of pairs (bf16_pairs.h) dense along depth / 2
///     b   pairs (bf16_pairs.h) of neighbours along depth, dense along columns: depth / 2 rows of columns
///     out rows dense along columns
/// Nests that follow each other load equal operands once. What cannot be mapped stops the build with the loop's name.
#pragma once
#include <Halide.h>

namespace gyre {

constexpr int tile_rows = 16, tile_columns = 16, tile_depth = 32, tile_registers = 8;

/// The names of the loops: a split gives them, as Var or RVar.
constexpr const char *tile_row_loop = "tile_row", *tile_column_loop = "tile_column", *tile_depth_loop = "tile_depth";

/// Arranges that, once the pipeline is lowered, its tile loops become tile instructions.
void map_tile_products(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
