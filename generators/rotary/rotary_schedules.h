/// Rotary position embedding: HOW it is computed. One function per machine class.
#pragma once
#include "rotary_algorithm.h"

namespace gyre::rotary {

/// Numbers that a tuner may change. Every field is a GeneratorParam of the same name.
struct Knobs {
    int lanes = 0;         // pairs at once; 0: the target's natural width for f32
    int usual_lengths = 1; // 1: loops of their own, unrolled, for 32 and 64 pairs; 0: little code
    int vector_copies = 0; // with little code, 1: features after the window are copied in vectors; 0: one by one
    int rows = 1;          // neighbouring rows at once, which read angles once where they have the same
};

/// `same_angles`: the rows along dimension a have the same angles; `rest_lanes`: pairs at once of those from Inputs::whole on, 0: there are
/// none, or they go one by one.
void schedule_cpu(Stages &s, const Inputs &in, const Halide::Expr &same_angles, int rest_lanes, const Knobs &k);

/// Schedules outputs that the caches cannot hold: asks for what is read some rows later, and leaves the stores as Halide has them, for
/// cmake/streaming_stores.cmake to turn into ones past the caches. `pairs`: a multiple of `lanes`.
void schedule_streamed(Stages &s, const Halide::Expr &pairs, const Halide::OutputImageParam &x, int lanes);

/// The knobs on CUDA. None was measured yet.
struct CudaKnobs {
    int lanes = 8;      // pairs of a thread
    int copy_lanes = 8; // features of a thread, where they are copied
    int tokens = 16;    // tokens of a block
    int runs = 8;       // vectors of a token, of a block that copies
    int heads = 8;      // heads that share a thread's angles
};

/// Angles that are formed where they are used.
struct CudaAngles {
    Halide::Func both; // (i, b, c)  {cos, sin}
    Halide::Var i;
};

/// `sequences`: that tell which packed sequence a token is of, for each update of out; undefined where it does not ask.
void schedule_cuda(Stages &s, Pairing pairing, const CudaAngles &angles, const std::vector<Halide::Func> &sequences,
                   const CudaKnobs &k);

} // namespace gyre::rotary
