/// Cosine and sine of rotation angles on CUDA: WHAT is computed. No scheduling call may appear here.
///
///     table(i, 0, t, z) = cos(position(t, z) f_i)        table(i, 1, t, z) = sin(position(t, z) f_i)
///
/// The table has the values of angles_algorithm.h's. It is made of frequencies in turns, since doubles are slow on a GPU, or of
/// rows of the caller's tables, so that its reader need not tell which.
#pragma once
#include "../../passes/cuda/turns.h"

namespace gyre::angles {

struct CudaInputs {
    cuda::AngleSource angles;
    cuda::PositionSource positions;
};

struct CudaStages {
    Halide::Var i{"i"}, c{"c"}, t{"t"}, z{"z"};
    Halide::Func both;  // (i, t, z)     {cos, sin}
    Halide::Func table; // (i, c, t, z)  the generator's own output
};

CudaStages cuda_algorithm(const CudaInputs &in, const Halide::Func &table);

} // namespace gyre::angles
