/// Rounding to bf16 by the processor, for which Halide 21 has no code (its own casts are integer operations).
#pragma once
#include <Halide.h>

namespace gyre {

/// The name of the call that stands for a rounding until passes/instructions/bf16_roundings.h maps it.
constexpr const char *bf16_rounding_call = "bf16_rounding";

/// The bits of `value` (f32) rounded to bf16, nearest even: as narrow(), in a third of the operations or fewer, but that on
/// x86 subnormal numbers, taken or given, are 0. The pipeline needs map_bf16_roundings().
Halide::Expr bf16_rounding(const Halide::Expr &value);

} // namespace gyre
