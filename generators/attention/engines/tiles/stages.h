/// The stages of products on matrix tiles.
#pragma once
#include "attention/recurrence/stages.h"

namespace gyre::attention {

/// Pairs are of bf16 numbers that neighbour along the dimension that is summed over. k_rows and v_rows hold bf16, unless numbers consist of
/// several terms.   p: term;  step: of tile_depth keys;  c: pairs of features, or of a step's keys.
struct TileStages : Stages {
    Halide::Var p{"p"}, step{"step"}, c{"c"};

    Halide::Func q_pairs;  // (d / 2, r, p, t)
    Transpose q_lanes;     // (r, d / 2, p, t)     queries along the lanes
    Halide::Func q_scaled; // (r, d / 2, p, t)     with the scale's sign
    Halide::Func k_terms;  // (d, j, p, b)         undefined if there is but one
    Halide::Func k_copied; // (d, j, b)            of blocks whose keys tiles do not take in place; undefined: of none
    Halide::Func v_pairs;  // (d, j / 2, p, b)     undefined where values are in blocks, as the next two
    Transpose v_lanes;     // (j / 2, d, p, b)     values transposed; undefined where weighs_rows
    Halide::Func v_packed; // (j / 2, d, p, b)     and then a tile of ones; (d, j / 2, p, b) where weighs_rows
    Halide::RVar v_feature, v_features_together; // of its update: features of a transposed block, and blocks
    Halide::Func v_copied; // (j, d, b)            values in blocks, of steps from first_copied on; undefined: no copies
    Halide::Func first_copied;            // (b)
    Halide::RVar copied_key, copied_step; // of the product with them
    Halide::RVar feature, feature_tile,
        score_product; // of the scores: within a tile's depth, tile, and product of terms
    Halide::RVar copied_feature, copied_feature_tile; // of those of copied keys
    Halide::Func powers;                              // (r, j, t, b)   in f32, unless bounded
    Halide::RVar raised_key, raised_step;             // of its update
    Halide::Func weights;                             // (r, c, p, step, t, b)
    Transpose weight_lanes;                           // (c, r, p, step, t, b)  where weighs_rows, as are the next three
    Halide::Func weight_rows;                         // (c, r, p, step, t, b)
    Halide::Func weighted_rows;                       // (d, r, t, b)
    Transpose weighted_lanes;                         // (r, d, t, b)
    Halide::RVar weight_step; // of its updates, where scores are bounded; the steps unless sum_with_values
    Halide::RVar edge_pair, edge_step;
    Halide::RVar value_j, value_step, value_product; // of the weighted values: key of a step, step, product of terms
    Halide::Func sums; // (r, d, t, b)   bounded: the sum in every row of a tile, unless sum_with_values
    Halide::RVar sum_j, sum_step, sum_product; // of it, or of block_sum

    // guard.cpp; undefined where all values are finite.
    Halide::Func cleaned_peaks, cleaned;            // (l) ()
    std::vector<std::vector<Halide::RVar>> scanned; // of the updates of cleaned_peaks; empty: of what no vector takes
    Halide::Func seen_rows, seen_finite;            // (d, j) (j)  values of a key as tiles take them; 1: all are finite
    RotatedRows seen_rotated;
    Halide::RVar seen_feature, marked_key, marked_turn, cleaned_feature, cleaned_turn; // of updates

    Halide::Func cap_units,
        slope_units; // (l)  changed_scores.cpp; undefined where scores are not capped, or have no slope

    // bound.cpp; undefined where no row tile may be bounded.
    Halide::Func is_bounded;             // (t)
    Halide::Func any_bounded, any_exact; // ()    some row tile is, is not
    Halide::Func q_squares, k_squares;   // (r, l, t) (l, b)  of every 4th pair of features; of every 16th feature
    Halide::Func q_norm, k_norm;         // (t) (b)        squares of the norms' bounds
    Halide::Func key_squares;            // (l, j)  of a key's features, where they are counted
    Halide::RVar bound_pair, bound_row, bound_key, bound_block, bound_vector;
};

} // namespace gyre::attention
