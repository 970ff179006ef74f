/// What the general family adds to attention's stages.
#pragma once
#include "math/transpose.h"

namespace gyre::attention {

struct GeneralStages {
    Halide::Func bias_rows;               // (j, r, t, b)   undefined: the kernel is not of the general family
    Transpose bias_lanes;                 // (r, j, t, b)   undefined where scores have keys along the lanes
    Halide::Func row_slopes;              // (r, t)         log2(e) included; undefined where row_heads is
    Halide::RVar cap_j, bias_j, attend_j; // of the updates of `masked` that cap and bias, and of that of bias_rows
    int bias_update = -1;                 // of `masked`

    // Where scores have rows along the lanes; undefined elsewhere.   l: key of a block
    Halide::Var l{"mask_l"};
    Halide::Func mask_least; // (l, t, b)   of the bytes that the rows of a tile have
    Halide::Func least_byte; // (t, b)
    Halide::RVar mask_byte;  // of its update
    Halide::Func hides;      // (t, b)      0: a mask is all that is added, and hides none of the block's keys
    Halide::Func unchanged;  // (t, b)      0: something is added to scores; undefined where they are in units
    Halide::RVar other_j;    // of the update of scores to which nothing is

    // A bf16 bias that is all that is added, where pairs are taken; undefined elsewhere.   c: pair of keys of a block
    Halide::Func pair_rows;           // (c, r, t, b)
    Transpose pair_lanes;             // (r, c, t, b)
    Halide::RVar key_of_pair, pair_c; // of the update of `masked`
    int pair_update = -1;             // of `masked`
};

} // namespace gyre::attention
