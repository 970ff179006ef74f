/// The AMX instruction that a tile nest becomes: see tile_products.h.
#pragma once
#include "tile_nest.h"
#include "tile_products.h"

#include <string>

namespace gyre {

constexpr int tile_elements = tile_rows * tile_columns;

/// Calls an instruction of x86_amx.ll in Halide's runtime. It takes whole tiles, so that all have one shape. `tile` is the name of the
/// accumulator's.
Halide::Internal::Stmt tile_instruction(const TileNest &nest, const std::string &tile);

/// Does with a vector what a nest does with an accumulator to which products of rows that are all 1 are added: each row of such a tile
/// holds the sums of b's columns. `sums` is the vector's name.
Halide::Internal::Stmt column_sums_instruction(const TileNest &nest, const std::string &sums);

} // namespace gyre
