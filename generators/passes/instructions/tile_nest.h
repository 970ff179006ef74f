/// One product on matrix tiles as a schedule leaves it, read from its loop nest: see tile_products.h.
#pragma once
#include <Halide.h>
#include <string>
#include <vector>

namespace gyre {

/// A block of rows in memory, in bytes from the start of `buffer`.
struct TileInMemory {
    std::string buffer;
    Halide::Expr first, row_stride;
};

struct TileNest {
    enum class Kind { zero, multiply_add, store } kind = Kind::zero;
    std::string accumulator;
    int64_t first = 0, row_stride = 0;    // of the accumulator's tile, in elements
    TileInMemory a, b;                    // multiply_add; no a: every row adds b's columns
    TileInMemory out;                     // store
    std::vector<Halide::Expr> conditions; // under which the whole nest runs

    bool adds_columns() const { return kind == Kind::multiply_add && a.buffer.empty(); }
};

/// Reads the nest whose outermost loop is `loop`; what cannot be a tile instruction is an error that names the loop.
TileNest read_tile_nest(const Halide::Internal::For *loop);

} // namespace gyre
