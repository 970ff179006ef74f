/// Conversions of f16 in vectors where the compiler has none: on 32-bit ARM with NEON, whose vectors of f16 come with
/// ARMv8.2, LLVM converts them one by one.
#pragma once
#include <Halide.h>

namespace gyre {

/// Arranges that on such targets vectors of f16 are loaded and stored as integers, and converted by integer operations, rounded
/// to nearest even, subnormal numbers included. Elsewhere this does nothing.
void map_half_vectors(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
