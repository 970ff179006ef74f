/// Sizes that the recurrence and every engine share, and that the code is specialised for.
#pragma once
#include <Halide.h>

namespace gyre::attention {

struct Sizes {
    int head_dim = 64;     // features of q and k, rounded up if `padded`
    int v_head_dim = 64;   // features of v and out, likewise
    bool padded = false;   // the tensors' own extents are smaller or equal, and are read at run time
    int row_tile = 64;     // query rows that share a block's scores
    int task_tiles = 10;   // row tiles of a task, at most
    int key_block = 128;   // keys of a block
    int feature_chunk = 8; // features of the accumulator that are folded together; divides v_head_dim
    int feature_step = 16; // if `padded`, features that loops take at least; divides head_dim and v_head_dim
    int value_step = 16;   // likewise, features that products of weights and values take; feature_chunk divides it
    int lanes = 16;        // block of the transpositions

    /// How loops over a row of a tensor end.
    Halide::TailStrategy row_ends = Halide::TailStrategy::GuardWithIf;
};

} // namespace gyre::attention
