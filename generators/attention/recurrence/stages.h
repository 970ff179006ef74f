/// The Funcs and Vars of attention that every engine has. Each engine adds its own (engines/<engine>/).
#pragma once
#include "attention/providers/stages.h"
#include "attention/variants/dropout/stages.h"
#include "attention/variants/general/stages.h"
#include "attention/variants/score/stages.h"
#include "math/rotation.h"
#include "math/transpose.h"
#include "sizes.h"

namespace gyre::attention {

/// Index order is Halide's, innermost first: the C array q[seqlen_q][heads][head_dim] is q(d, h, i).
/// A task's rows are its query tokens i times the query heads h that share its keys (GQA), row = i * heads + h; row r of row
/// tile t is row t * tile_rows + r.   j: key within a block;  b: block;  d: feature;  e: chunk of features;  l: lane.
struct Stages {
    Sizes sizes;
    Halide::Expr tile_rows; // of a row tile, the last of a task's aside; undefined: sizes.row_tile
    Halide::Expr tiles;     // row tiles of a task; undefined likewise
    Halide::Expr rows_of_tile() const { return tile_rows.defined() ? tile_rows : Halide::Expr(sizes.row_tile); }
    Halide::Expr first_row() const { return t * rows_of_tile(); } // of row tile t
    Halide::Expr k_features, v_features; // of q and k, and of v and out, that loops take: features.h
    Halide::Expr value_chunks;           // of feature_chunk features each, that products of weights and values form
    Halide::Var i{"i"}, h{"h"}, r{"r"}, t{"t"}, j{"j"}, b{"b"}, d{"d"}, e{"e"}, l{"l"};

    Halide::Func row_tokens, row_heads; // (r, t)     i and h of a row; undefined if heads is the constant 1
    Halide::Func row_sinks; // (r, t)     log2(e) included; undefined likewise, and where there are none, ever
    Halide::Func q_rows;    // (d, r, t)  rotated, in f32
    RotatedRows q_rotated;

    OperandStages operands;

    Halide::Func scores;                    // (r, j, t, b)  raw
    Halide::Func masked;                    // (r, j, t, b)  capped, biased and masked
    Halide::RVar formed_j, key_step;        // of its first update, if it is formed in steps
    Halide::RVar mask_j;                    // of its last update
    Halide::Func block_max, block_sum;      // (r, t, b)
    Halide::RVar max_j;                     // of the update of block_max
    Halide::Func value_peaks, joined_peaks; // (l, b)  of the lanes of several vectors, and of one
    Halide::Func guarded;                   // (b)  guard.h; undefined: values are integers, or on tiles
    Halide::Func cut;    // (b)  0: no values are looked at; else from key cut - 1 on; undefined: a condition tells
    int guard_lanes = 0; // values of a key that it looks at together
    Halide::RVar peak_chunk, peak_key, peak_head, peak_lane; // of their updates
    Halide::Func guarded_sums;            // (d, h, g, …)  as SumsInTurn tells; undefined: of one key after the other
    Halide::RVar guarded_key;             // of its update
    Halide::RVar guarded_j, guarded_turn; // of the last update of a guarded product
    Halide::Func weighted;                // (r, d, t, b)  sum_j weights v
    Halide::Func state;                   // (r, t, e)     {accumulators of a chunk of features, maximum, sum}
    Halide::RVar block;                   // of its update
    Halide::RVar cleared_turn;            // of the one that clears row tiles which see no block

    GeneralStages general;
    ScoreStages score;
    DropoutStages dropout;

    Halide::Func inverse_sum, row_lse; // (r, t)
    Halide::Func normalised;           // (r, d, t)
    Transpose out_rows;                // (d, r, t)
    Halide::Func out_copy;             // (d, r, t)     normalised rows, before they are rotated back
    RotatedRows out_rotated;
    Halide::Func out, lse; // (d, h, i) (i, h)    the generator's own outputs
};

} // namespace gyre::attention
