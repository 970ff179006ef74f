/// Products of 2 x 4 matrices of bf16 in vector registers (bfmmla, FEAT_BF16 of ARMv8.6).
///
/// A schedule leaves two loops of a product of f32 numbers that are widened bf16 numbers serial, with 4 turns each:
///
///     for matrix_lane: for matrix_depth: acc(lane, …) += a(depth, lane / 2, …) * b(depth, lane % 2, …)
///
/// a and b have 8 neighbouring elements in memory, two rows of 4; acc is the 2 x 2 matrix a bᵀ, row by row. Each such nest
/// becomes one instruction, which rounds sums to odd and takes subnormal numbers for 0. Where elements of several `acc` are
/// read together, they are taken from its vectors by a shuffle. What cannot be mapped stops the build.
///
/// Halide 21 has no name for that instruction. It stands as a dot product of integers (sdot), whose operands are the same
/// three registers, until the kernel's assembly becomes an object: cmake/bf16_instructions.cmake.
#pragma once
#include <Halide.h>
#include <vector>

namespace gyre {

constexpr int matrix_rows = 2, matrix_depth = 4, matrix_lanes = matrix_rows * matrix_rows;

/// The names of the loops: a split or a renaming gives them, as Var or RVar.
constexpr const char *matrix_lane_loop = "matrix_lane", *matrix_depth_loop = "matrix_depth";

/// True for targets whose assembly gets these instructions.
bool has_bf16_matrices(const Halide::Target &target);

/// Arranges that, once the pipeline is lowered, its products of bf16 become instructions. Elements of the Funcs `transposed`,
/// whose rows are whole vectors and which are read across the rows, are shuffled out of these likewise.
void map_bf16_matrices(Halide::Internal::GeneratorBase &generator, const std::vector<Halide::Func> &transposed);

} // namespace gyre
