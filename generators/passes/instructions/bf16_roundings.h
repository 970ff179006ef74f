/// Roundings to bf16 (math/bf16_rounding.h) as the instructions of a processor.
#pragma once
#include <Halide.h>

namespace gyre {

/// True for targets with instructions that round to bf16.
bool has_bf16_rounding(const Halide::Target &target);

/// Arranges that numbers are rounded by FEAT_BF16's instructions on ARM, and on x86 vectors of 16 lanes or more by AVX512_BF16's.
/// Fewer lanes are rounded by integer operations, as narrow() does.
void map_bf16_roundings(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
