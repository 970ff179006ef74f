/// What schedules say so that a warp computes a tile of a matrix: 16 rows, whole tiles of 8 columns.
///
///     Func c, a, b;                                                    // c(j, i) += a(k, i) b(k, j), k = tile * 16 + of_tile
///     c.compute_at(out, block).store_in(MemoryType::Register);
///     cuda::warp_tile(c, i, j, {});                                    // c = 0 in fragments
///     cuda::warp_product(c.update(), i, j, of_tile, tile, {});         // mma
///
/// a must be such a fragment, too, or in shared memory, and b in shared memory. Rows are given to as many warps as there are times 16 of
/// them; or times 16 `row_tiles`, whose products share what is read of b. What Halide then sees is correct for one lane; warp_printer.h
/// makes it the warp's. `outer`: the other dimensions.
#pragma once
#include "warp_nest.h"

namespace gyre::cuda {

/// Elementwise.
void warp_tile(Halide::Stage stage, const Halide::Var &row, const Halide::VarOrRVar &column,
               const std::vector<Halide::VarOrRVar> &outer, int row_tiles = 1);

/// Elementwise, one number a row.
void warp_rows(Halide::Stage stage, const Halide::Var &row, const std::vector<Halide::VarOrRVar> &outer,
               int row_tiles = 1);

/// A maximum or sum along rows; `column` has 8 turns.
void warp_reduction(Halide::Stage update, const Halide::Var &row, const Halide::RVar &column,
                    const Halide::RVar &columns, const std::vector<Halide::VarOrRVar> &outer, int row_tiles = 1);

/// A sum in f32 of products, of 16 bits by tensor cores or of f32 by multiply-adds; `depth` has 16 turns.
void warp_product(Halide::Stage update, const Halide::Var &row, const Halide::Var &column, const Halide::RVar &depth,
                  const Halide::RVar &depths, const std::vector<Halide::VarOrRVar> &outer, int row_tiles = 1);

/// Threads of all warps fill a tile of rows in shared memory, neighbours with neighbours of a row, `at_once` numbers at a time. `each`: further
/// dimensions that a thread goes through by itself.
void fill_by_block(Halide::Func f, const Halide::Var &row, int at_once, int warps, bool unrolled = false,
                   const std::vector<Halide::Var> &each = {});

} // namespace gyre::cuda
