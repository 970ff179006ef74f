/// Scores of a block, and which of them count, as gradients and totals have them with the same bits: WHAT is computed.
#pragma once
#include "backward_algorithm.h"

namespace gyre::backward {

constexpr float log2_e = 1.44269504088896f, ln_2 = 0.69314718055995f;

/// Defines `q_scaled` and `scores`, and `score_parts` where these are summed apart.
void define_scores(Stages &s, const Inputs &in);

/// What ALiBi adds to the score of a key and a row.
Halide::Expr alibi_of(const Inputs &in, const Halide::Expr &key, const Halide::Expr &row);

/// True if a row of the tile may see one of `count` keys from the first on, and both exist.
Halide::Expr tile_sees(const Inputs &in, const Sizes &z, const Halide::Expr &row_tile, const Halide::Expr &first_key,
                       int count);

/// The elements of the block's weights, a register tile at a time, but for tiles that are masked as a whole.
struct FormedWeights {
    Halide::Expr key, row;
    Halide::RVar tile_row, row_tile; // of `row`: its place in a tile, and which
};
FormedWeights formed_weights(Stages &s, const Inputs &in);

/// Makes 0 of all weights that are masked at an edge of what is visible, formed or not.
void define_edges(Stages &s, const Inputs &in);

} // namespace gyre::backward
