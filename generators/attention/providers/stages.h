/// What providers of keys and values define.
#pragma once
#include "math/rotation.h"

#include <Halide.h>

namespace gyre::attention {

struct OperandStages {
    Halide::Var g{"g"};
    Halide::Func k_offsets, v_offsets; // (j, b)   where a key's rows begin; undefined: they are found without a table
                                       // (j, b, g)   of key head g, where rows may have keys of their own
    Halide::Func key_heads;            // (t)      of a row; undefined: rows share keys
    Halide::Expr has_one_page;         // for which tables are specialised; undefined: they are not
    Halide::Func k_rows, v_rows;       // (d, j, b) (d, j, b)   in the engine's form; values in blocks: (j, d, b)
    RotatedRows k_rotated, v_rotated;
    Halide::Func key_scales; // (j, t, b)     {of keys, of values}; undefined: none

    // Where values are in blocks, k_rows and v_rows are read as they are stored, k_offsets is (j / tile_rows, b), and v_offsets is
    // (j / tile_depth, b).
    Halide::Func v_ones; // (j / 2, d)    a tile of ones; undefined: values are in rows

    /// An element of k_rows or v_rows, as row tile t of one row has it.
    static Halide::Expr at(const Halide::Func &rows, const Halide::Expr &feature, const Halide::Expr &key,
                           const Halide::Expr &b, const Halide::Expr &t) {
        return rows.dimensions() == 4 ? Halide::Expr(rows(feature, key, b, t)) : Halide::Expr(rows(feature, key, b));
    }
};

} // namespace gyre::attention
