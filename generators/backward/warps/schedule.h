/// Gradients of attention for warps that multiply tiles of matrices: HOW.
#pragma once
#include "algorithm.h"

namespace gyre::gradients {

/// 0: what suits the kernel. None was measured yet.
struct Knobs {
    int warps = 0;  // of a block of threads
    int block = 0;  // columns of a block
    int stages = 2; // blocks of columns that shared memory holds, one of which is computed with
};

/// The sizes that a multiprocessor's registers, and 99 KB of shared memory, hold.
Sizes choose_sizes(Of of, bool general, int head_dim, const Halide::Type &type, const Knobs &knobs);

void schedule(Stages &s, const Knobs &knobs);

} // namespace gyre::gradients
