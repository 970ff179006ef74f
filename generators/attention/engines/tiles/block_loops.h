/// The loops of a block of tiles, which its Funcs share.
#pragma once
#include "passes/instructions/tile_products.h"

#include <Halide.h>

namespace gyre::attention {

/// Rows along `rows`, columns along `columns`; all tiles unrolled.
struct BlockLoops {
    Halide::Var row{tile_row_loop}, column{tile_column_loop}, rows{"tiles_down"}, columns{"tiles_across"};
    Halide::RVar depth{tile_depth_loop};

    Halide::Stage split(Halide::Stage stage, const Halide::Var &along_rows, const Halide::Var &along_columns) const {
        return stage.split(along_rows, rows, row, tile_rows, Halide::TailStrategy::RoundUp)
            .split(along_columns, columns, column, tile_columns, Halide::TailStrategy::RoundUp)
            .reorder(column, row, columns, rows)
            .unroll(columns)
            .unroll(rows);
    }
};

} // namespace gyre::attention
