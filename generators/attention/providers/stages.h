/// What providers of keys and values define.
#pragma once
#include "math/rotation.h"

#include <Halide.h>

namespace gyre::attention {

struct OperandStages {
    Halide::Func k_offsets, v_offsets; // (j, b)   where a key's rows begin; undefined: they are found without a table
    Halide::Expr has_one_page;         // for which tables are specialised; undefined: they are not
    Halide::Func k_rows, v_rows;       // (d, j, b) (d, j, b)   in the engine's form; values in blocks: (j, d, b)
    RotatedRows k_rotated, v_rotated;
    Halide::Func key_scales; // (j, t, b)     {of keys, of values}; undefined: none

    // Where values are in blocks, k_rows and v_rows are read as they are stored, k_offsets is (j / tile_rows, b), and v_offsets is
    // (j / tile_depth, b).
    Halide::Func v_ones; // (j / 2, d)    a tile of ones; undefined: values are in rows
};

} // namespace gyre::attention
