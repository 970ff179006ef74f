/// The recurrence over blocks of keys: WHAT is computed.
#pragma once
#include "attention/attention_algorithm.h"

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

/// Scores have yet to be scaled by this with tiles, which take the scale's sign alone.
inline Halide::Expr magnitude_of(const Halide::Expr &scale) { return select(scale == 0.0f, 1.0f, abs(scale)); }

/// The names of the loops over blocks: of all row tiles or, where there are two, of those that are bounded
/// (engines/tiles/bound.h), and of the others, which is to run if s.any_exact.
constexpr const char *blocks_loop = "blocks", *exact_blocks_loop = "exact_blocks";

/// Appends to s.state the fold over the blocks that row tiles see, where `taken` (t). A tuple of the state holds the
/// accumulators of `feature_chunk` neighbouring features, d = e * feature_chunk + c, with the maximum and the sum, because
/// the accumulators' update reads the maximum that it also replaces. `name` of the loop.
void fold_blocks(Stages &s, const Inputs &in, const std::string &name, const Halide::Expr &taken);

} // namespace gyre::attention
