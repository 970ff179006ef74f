/// Keys and values of one head, rotated, in the form in which attention's matrix tiles take them: WHAT is computed. No
/// scheduling call may appear here.
///
/// Attention with many queries reads them once a task; formed before, they are rotated and transposed once for all tasks.
///
/// Index order is Halide's, innermost first.   d: feature;  j: key;  g: block of tile_depth keys;  l: lane of a norm.
/// The last block is whole: its slots without a key repeat the last one.
#pragma once
#include "../../common/key_rows.h"
#include "../../math/rotation.h"
#include "../../math/transpose.h"

#include <Halide.h>

namespace gyre::operands {

struct Inputs {
    KeyRows k, v; // bf16
    Pages pages;
    Halide::Expr keys; // > 0
    Rotation k_rotation, v_rotation;
};

struct Stages {
    Halide::Var d{"d"}, j{"j"}, g{"g"}, c{"c"}, l{"l"};
    Halide::RVar key;         // of the update of key_squares
    Halide::Func k_rows;      // (d, j)      the generator's own outputs: bits of bf16
    Halide::Func v_blocks;    // (c, d, g)   pairs of keys (bf16_pairs.h)
    Halide::Func key_squares; // (l, g)      largest sum of squares of a block's keys as they come (norms.h)
    Halide::Func marks;       // (l)         highest bit of either number: one that is not finite is among v_blocks
    Halide::RVar marked_pair, marked_feature, marked_block; // of its update
    RotatedRows k_rotated, v_rotated;
    Halide::Func v_rows; // (d, j, g)
    Transpose v_lanes;   // (c, d, g)
};

/// Defines the outputs for `head_dim` features and `blocks` blocks, transposed in blocks of `lanes`.
Stages algorithm(const Inputs &in, int head_dim, int lanes, const Halide::Func &k_rows, const Halide::Func &v_blocks,
                 const Halide::Func &key_squares, const Halide::Func &marks, const Halide::Expr &blocks);

} // namespace gyre::operands
