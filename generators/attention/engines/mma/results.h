/// What becomes of a tile's state once all blocks are folded into it: WHAT is computed. A part of cuda_algorithm().
#pragma once
#include "algorithm.h"

namespace gyre::attention {

/// Defines out_rows and lse_rows, normalised, and what is stored of them: out, rotated back, and lse.
void define_results(CudaStages &s, const CudaInputs &in, const Halide::Type &type);

} // namespace gyre::attention
