/// Products of pairs of bf16 numbers that are added in f32 (vdpbf16ps, AVX512_BF16).
#pragma once
#include <Halide.h>

namespace gyre {

/// The instruction's lanes: what calls of bf16_dot() are vectorised by.
constexpr int bf16_dot_lanes = 16;

/// True for targets that have the instruction.
bool has_bf16_dot(const Halide::Target &target);

/// sum + a.first * b.first + a.second * b.second, for an f32 sum and pairs of bf16 numbers (math/bf16_pairs.h). Subnormal numbers,
/// taken or given, are 0. The pipeline needs map_bf16_dots().
Halide::Expr bf16_dot(const Halide::Expr &sum, const Halide::Expr &a, const Halide::Expr &b);

/// Arranges that vectors of bf16_dot_lanes calls become one instruction once the pipeline is vectorised. Calls with another number
/// of lanes stop the build.
void map_bf16_dots(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
