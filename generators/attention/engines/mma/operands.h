/// What the products take: WHAT is computed. A part of cuda_algorithm().
#pragma once
#include "algorithm.h"

namespace gyre::attention {

/// Defines q_staged, q_rotated and q_rows, k_rows and v_rows.
void define_operands(CudaStages &s, const CudaInputs &in, const Halide::Type &type);

/// The {cos, sin} of a pair at the position of row `row`, which exists, of tile `of`.
std::function<Halide::Tuple(Halide::Expr)> query_angle(const CudaTile &tile, const CudaInputs &in,
                                                       const cuda::AngleSource &angles, const Halide::Expr &of,
                                                       const Halide::Expr &row);

} // namespace gyre::attention
