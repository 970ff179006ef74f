/// Neighbours of 16 bits in memory, loaded as pairs of 32 bits.
#pragma once
#include <Halide.h>

namespace gyre {

/// Two uint16 numbers as a uint32 one, the first in the low half. The pipeline needs map_neighbour_pairs().
Halide::Expr neighbour_pair(const Halide::Expr &first, const Halide::Expr &second);

/// Arranges that vectors of pairs become one dense load where the first numbers are every second element of a tensor and the second numbers
/// those between them. Halide would load both with holes, and shuffle. All other pairs are put together by a shift.
void map_neighbour_pairs(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
