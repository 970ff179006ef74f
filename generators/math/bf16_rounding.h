/// Rounding to bf16 by the processor, for which Halide 21 has no code (its own casts are integer operations).
#pragma once
#include <Halide.h>

namespace gyre {

bool has_bf16_rounding(const Halide::Target &target);

/// The bits of `value` (f32) rounded to bf16, nearest even: as narrow(), in a third of the operations or fewer, but that on
/// x86 subnormal numbers, taken or given, are 0. The pipeline needs map_bf16_roundings().
Halide::Expr bf16_rounding(const Halide::Expr &value);

/// Arranges that numbers are rounded by FEAT_BF16's instructions on ARM, and on x86 vectors of 16 lanes or more by AVX512_BF16's,
/// others as narrow() does.
void map_bf16_roundings(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
