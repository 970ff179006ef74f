/// Sums of neighbours in a vector that is stored in registers.
#pragma once
#include <Halide.h>

namespace gyre {

/// Arranges that the sums of elements 0 and 1, 2 and 3, ... of an allocation take both from one dense load. Halide adds two loads that lie an element apart, and
/// the second reads across the stores of two vectors: a processor waits until both are in memory.
void take_neighbours_from_one_load(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
