/// Which rows a block of threads forms gradients of, and which columns count for them: WHAT is computed.
///
/// Rows are queries and columns keys, or the other way round. Sequences of one length are entries z of the tensors, and tile t is rows
/// from t * tile_rows on. Packed ones follow each other in the tokens of entry 0, at bounds that the device alone knows: sequence s has
/// the tiles from bounds[s] / tile_rows + s on.
///
/// A tile goes through blocks of columns, turn by turn; where rows are keys, through those of each query head that shares them.
#pragma once
#include <Halide.h>

namespace gyre::gradients {

/// Lists on the device. What they hold is kept within the tensors.
struct Sequences {
    bool of_keys = false;                   // rows are keys
    Halide::Func row_bounds, column_bounds; // (sequence)  cu_seqlens
    Halide::Expr packed;                    // bool
    Halide::Expr sequences;                 // in the lists
    Halide::Expr packed_count;              // of packed sequences; 1: not packed
    Halide::Func used_keys;                 // (sequence)
    Halide::Expr has_used_keys;             // bool
    Halide::Expr rows, columns;             // tokens of an entry
    Halide::Expr bottom_right;              // bool: the last query sees the last key
    Halide::Expr left, right;               // keys that a query sees before and beyond its own position, >= 0
    Halide::Expr group;                     // query heads that share a key head
    Halide::Expr column_heads;
};

struct Tile {
    Halide::Var t, z, h;
    Halide::RVar before;   // of the update of sequence
    Halide::Func sequence; // (t, z)
    Halide::Func
        lengths; // (t, z, h)  {first row's token, rows, the tile's first row, first column's token, columns, keys in use}
    Halide::Func turns;  // (t, z, h)  {0, turns, first block, blocks of a head}
    Halide::Func common; // (t, z, h)  {first column that all rows see, last one}
    Sequences in;

    Halide::Expr first_row_token(const Halide::Expr &of) const { return lengths(of, z, h)[0]; }
    Halide::Expr row_count(const Halide::Expr &of) const { return lengths(of, z, h)[1]; }
    Halide::Expr first_row(const Halide::Expr &of) const { return lengths(of, z, h)[2]; }
    /// The row at place `i` of a tile, or if there is none the last one that is there.
    Halide::Expr existing_row(const Halide::Expr &of, const Halide::Expr &i) const {
        return max(min(first_row(of) + i, row_count(of) - 1), 0);
    }
    /// The token of a row that exists, within the tensor.
    Halide::Expr row_token(const Halide::Expr &of, const Halide::Expr &row) const;
    /// The first column of the block of a turn, and the head that the columns are of.
    Halide::Expr first_column(const Halide::Expr &turn, int block) const;
    Halide::Expr column_head(const Halide::Expr &turn) const;
    /// The token of a column, or of the last one that is there, within the tensor.
    Halide::Expr column_token(const Halide::Expr &column) const;
    /// A column, or the last one that is there.
    Halide::Expr existing_column(const Halide::Expr &column) const;
    /// Where a key stands, less where a query does.
    Halide::Expr distance(const Halide::Expr &row, const Halide::Expr &column) const;
    /// Whether a row and a column see each other.
    Halide::Expr sees(const Halide::Expr &row, const Halide::Expr &column) const;
    /// True if some row of the tile does not see all columns of the block from `first` on.
    Halide::Expr at_edge(const Halide::Expr &first, int block) const;

private:
    friend Tile tile_of(const Sequences &in, int tile_rows, int block, const Halide::Var &t, const Halide::Var &z,
                        const Halide::Var &h);
    /// Columns that row r sees: from r + origin - before to r + origin + after, below `limit`.
    struct Sight {
        Halide::Expr origin, before, after, limit, rows;
    };
    Sight sight(const Halide::Expr &of) const;
};

Tile tile_of(const Sequences &in, int tile_rows, int block, const Halide::Var &t, const Halide::Var &z,
             const Halide::Var &h);

} // namespace gyre::gradients
