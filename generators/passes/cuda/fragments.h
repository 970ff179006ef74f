/// How a warp's lanes hold its register arrays: the tiles of mma.m16n8k16.
///
/// A schedule has a warp's tile as an array of 16 rows, or several times as many, of which the first lane would compute all. On the device lane L has
/// the elements (row, column) of each 16 x 8 tile with row = L / 4 + 8 half and column = 2 (L % 4) + pair, half and pair
/// in {0, 1}: 4 registers in f32, 2 words in 16 bits. Those of two neighbouring tiles are what an mma takes as its left operand.
#pragma once
#include "../instructions/nest_index.h"
#include "warp_nest.h"

#include <map>

namespace gyre::cuda {

struct Fragment {
    enum class Kind {
        scalar, // one number, the same in all threads
        row,    // one number a row
        matrix
    };
    Kind kind = Kind::row;
    Halide::Type type;
    int columns = 1;   // between rows, in the array
    int row_tiles = 1; // of 16 rows, of a warp
    int size = 0;      // elements that the schedule allocates

    bool is_packed() const { return kind == Kind::matrix && type.bits() == 16; }
    int registers() const { return row_tiles * registers_of_tile(); }
    /// Registers of a lane for 16 rows.
    int registers_of_tile() const;
    /// Elements of a warp's rows.
    int64_t elements() const { return int64_t{tile_rows} * row_tiles * columns; }
    /// True if rows of each warp are those that its index says; one warp's are there without it.
    bool is_own_warp(const Halide::Expr &index) const;
};

class Fragments {
public:
    /// Finds the arrays that warps hold as fragments, by how the nests of a kernel store them.
    void find(const std::vector<WarpNest> &nests, const std::map<std::string, std::pair<Halide::Type, int>> &arrays);

    /// nullptr: not an array that warps hold.
    const Fragment *operator[](const std::string &array) const;

    /// Which 16 x 8 tile of its warp's rows an element of a matrix is in, counted along columns, then along rows. Errors name the
    /// nest: it is another row's or column's than the nest's.
    Halide::Expr tile(const WarpNest &nest, const std::string &array, const Halide::Expr &index,
                      const std::string &column) const;

    /// True if an expression is the same in all columns.
    bool is_same_in_row(const WarpNest &nest, const Halide::Expr &e) const;

    /// True if all that a statement stores is scalars, which every thread may compute for itself.
    bool stores_scalars(const Halide::Internal::Stmt &s) const;

private:
    std::map<std::string, Fragment> fragments;
};

} // namespace gyre::cuda
