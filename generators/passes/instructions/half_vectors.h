/// Conversions of f16 where the compiler has none that serve. On 32-bit ARM with NEON, whose vectors of f16 come with ARMv8.2,
/// LLVM converts them one by one. On x86 without F16C, Halide's own make infinity of a NaN; there numbers that are not in
/// vectors are converted as well.
#pragma once
#include <Halide.h>

namespace gyre {

/// Arranges that on such targets vectors of f16 are loaded and stored as integers, and converted by integer operations, rounded
/// to nearest even, subnormal numbers included. Elsewhere this does nothing.
void map_half_vectors(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
