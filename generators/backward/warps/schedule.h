/// Gradients of attention for warps that multiply tiles of matrices: HOW.
#pragma once
#include "algorithm.h"

namespace gyre::gradients {

/// 0: what suits the kernel.
struct Knobs {
    int warps = 0;  // of a block of threads
    int block = 0;  // columns of a block
    int stages = 2; // blocks of columns that shared memory holds, one of which is computed with
    int blocks = 0; // of threads, that a multiprocessor's registers have room for
};

/// The sizes that a multiprocessor's registers, and 99 KB of shared memory, hold.
Sizes choose_sizes(Of of, bool general, int head_dim, const Halide::Type &type, const Knobs &knobs);

/// Blocks of threads that registers of a multiprocessor are to have room for; 0: as many as they have. Three hide more of each other's waiting than
/// two, which spill nothing: on an H200 4 x 16 heads of 64 and 2,048 tokens took 659 us and 693, 2 x 16 heads of 128 and 4,096 tokens 2,121 and 2,183.
int blocks_of_threads(bool general, const Halide::Type &type, const Knobs &knobs);

void schedule(Stages &s, const Knobs &knobs);

} // namespace gyre::gradients
