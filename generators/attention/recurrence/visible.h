/// Says which keys a row sees.
#pragma once
#include "inputs.h"
#include "stages.h"

namespace gyre::attention {

/// The keys that row r of row tile t sees: those of the row, those that every row of the tile sees, those that some row
/// sees. A range may be empty.
struct Visible {
    Halide::Expr first, last, every_first, every_last, tile_first, tile_last;
    Halide::Expr keys; // that there are

    /// True if some row of the tile may see some of these keys.
    Halide::Expr in_sight(const Halide::Expr &first_key, int keys) const {
        return first_key <= tile_last && first_key + keys - 1 >= tile_first;
    }
    Halide::Expr sees(const Halide::Expr &key) const { return key >= first && key <= last; }
    /// True if some row does not see some of these keys.
    Halide::Expr at_edge(const Halide::Expr &first_key, int keys) const {
        return is_cut(first_key, first_key + keys - 1);
    }
    Halide::Expr is_cut(const Halide::Expr &first_key, const Halide::Expr &last_key) const {
        return last_key > every_last || first_key < every_first;
    }
};
Visible visible_keys(const Inputs &in, const Stages &s);

} // namespace gyre::attention
