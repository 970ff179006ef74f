/// What attention's kernels on CPUs read.
#pragma once
#include "attention/score.h"
#include "common/dropout.h"
#include "common/key_rows.h"
#include "math/rotation.h"

#include <Halide.h>

namespace gyre::attention {

/// Rotations of queries and keys may differ from those of values and outputs.
struct Inputs {
    Halide::Func q;           // (d, h, i)        as stored
    KeyRows k, v;             //                  likewise
    Halide::Func key_squares; // (l, block)       of what generators/attention/operands forms; undefined: not formed
    Pages pages;              //                  where keys and values are
    Halide::Func k_scale, v_scale;     // (j)  f32         what is stored of key j, times this, is it; undefined: 1
    Halide::Expr tokens, heads, keys;  // extents; heads may be the constant 1
    Halide::Expr rows;                 // tokens * heads
    Halide::Expr key_heads;            // that the heads are spread over; undefined: they share one
    Halide::Expr row_step;             // 0: q's rows are heads of token 0, and `heads` is 1; undefined or 1: tokens
    Halide::Expr tile_rows;            // rows of a row tile, sizes.row_tile at most; undefined: that
    Halide::Expr head_dim, v_head_dim; // extents of the tensors
    Halide::Expr scale;                // of the scores, log2(e) included
    Halide::Expr key_gain;             // of rotations on norms of keys, at most
    Halide::Expr first_visible;        // token i sees keys first_visible + i <= j …
    Halide::Expr last_visible;         //                             … j <= last_visible + i
    Rotation q_rotation, k_rotation, v_rotation, out_rotation;
    Halide::Expr softcap;      // of scores; 0: none; undefined: none, ever
    Halide::Func alibi;        // (h)  slope, log2(e) included; undefined: none, ever
    Halide::Expr alibi_origin; // pos_k - pos_q of key 0 and token 0
    Halide::Expr slope_reach;  // common/slope_reach.h; undefined in the general family
    Halide::Func sinks;        // (h)  log2(e) included, masked_score: none; undefined: they join later, or never

    // The general family only; `bias` is undefined in others. Where a tensor is absent, its Func may not be read.
    Halide::Func bias;          // (j, i, h)  f32, added
    Halide::Func bias_masks;    // (j, i, h)  bool, true where it is -inf
    Halide::Func bias_bits;     // (j, i, h)  u16, of a bias in 16 bits
    Halide::Expr has_bias;      // bool
    Halide::Expr has_bf16_bias; // bool
    Halide::Func mask;          // (j, i, h)  0: masked
    Halide::Expr has_mask;      // bool
    Halide::Expr mask_is_dense; // bool            along the keys
    Halide::Expr has_alibi;     // bool

    Dropout dropout; // its fields are undefined in kernels that drop nothing

    // Kernels with a score function only.
    std::function<Halide::Expr(const ScorePoint &)> score; // empty: none
    ScorePoint score_origin;                               // row 0 and key 0 of the task; without a score

    bool is_general() const { return bias.defined(); }
    bool is_capped() const {
        return softcap.defined() && !is_general();
    } // and has no other option of the general family
    bool is_sloped() const { return alibi.defined() && !is_general(); } // likewise
    bool drops() const { return dropout.threshold.defined(); }
    /// True if a task is rows of one dimension, all of them in one row tile at most. Some row of it sees the last key.
    bool is_one_tile(int task_tiles) const { return row_step.defined() && task_tiles == 1; }
};

} // namespace gyre::attention
