/// The linear layer with GELU on the tensor cores of a CUDA device: WHAT and HOW. K must be a multiple of 32.
///
/// A block of threads is a tile of 64 x 64 results: each of its 4 warps has 16 rows, whose sums stay in fragments. Steps of 32 numbers of w
/// are copied into shared memory two turns ahead; a warp reads its rows of x for itself.
#pragma once
#include "matmul_algorithm.h"

namespace matmul {

struct CudaStages {
    Halide::Var n{"n"}, m{"m"}, j{"j"}, i{"i"}, k{"k"}, step{"step"}, jt{"jt"}, it{"it"}; // (j, i) within tile (jt, it)
    Halide::Func rows, columns; // (k, i, step, it), (k, j, step, jt) bf16
    Halide::Func sums, result;  // (j, i, jt, it) f32
    Halide::RVar depth, depths, steps;
    Halide::Func out;
};

CudaStages cuda_algorithm(const Inputs &in, const Halide::Func &out);
void schedule_cuda(CudaStages &s);

} // namespace matmul
