/// What the products take: WHAT is computed. A part of cuda_algorithm().
#pragma once
#include "algorithm.h"

namespace gyre::attention {

/// Defines q_staged, q_rotated and q_rows, k_rows and v_rows.
void define_operands(CudaStages &s, const CudaInputs &in, const Halide::Type &type);

/// A row's query, and its head among all query heads.
struct RowOfHeads {
    Halide::Expr query, head;
};

/// Finds which query of which head the row at place `i` of tile.t is, or the last row that is there; of head `h`.
RowOfHeads row_of_heads(const CudaInputs &in, const CudaSizes &sizes, const CudaTile &tile, const Halide::Expr &i,
                        const Halide::Expr &h);

/// The {cos, sin} of a pair at the position of row `row`, which exists, of tile `of`. `token`: the row's, where that is known.
std::function<Halide::Tuple(Halide::Expr)> query_angle(const CudaTile &tile, const CudaInputs &in,
                                                       const cuda::AngleSource &angles, const Halide::Expr &of,
                                                       const Halide::Expr &row, const Halide::Expr &token = {});

} // namespace gyre::attention
