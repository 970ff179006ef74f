/// Scores of a block, which of them count, and what becomes of them, as kernels of gradients and of totals share it: WHAT is computed.
#pragma once
#include "backward_algorithm.h"

namespace gyre::backward {

constexpr float log2_e = 1.44269504088896f, ln_2 = 0.69314718055995f;

/// Defines `q_scaled` and `scores`, and `score_parts` where these are summed apart.
void define_scores(Stages &s, const Inputs &in);

/// What ALiBi adds to the score of a key and a row.
Halide::Expr alibi_of(const Inputs &in, const Halide::Expr &key, const Halide::Expr &row);

/// A row and a key of the block.
struct Pair {
    Halide::Expr product, prob_grad; // <q, k> times the scale and log2(e), and <do, v>
    Halide::Expr key, row;
    Halide::Expr lse, delta;
};

/// P and scale dS of a row and a key, before masking; not of the general family.
Halide::Tuple weights(const Inputs &in, const Sizes &z, const Pair &of);

/// True if the row sees the key, and both exist.
Halide::Expr is_visible(const Inputs &in, const Halide::Expr &key, const Halide::Expr &row);

/// True if a tile of rows exists and some of them do not see all keys of the block, or do not exist.
Halide::Expr meets_edge(const Inputs &in, const Sizes &z, const Halide::Expr &row_tile);

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

/// Adds the three sums to the generator's outputs.
void add_sums(Stages &s, const Halide::Func &dq, const Halide::Func &dk, const Halide::Func &dv);

} // namespace gyre::backward
