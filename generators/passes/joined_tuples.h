/// The elements of a Tuple in one allocation.
#pragma once
#include <Halide.h>

namespace gyre {

/// Halide allocates each element of a Tuple by itself, and each takes an address of its own wherever elements are used. Where
/// their types and sizes are the same and constant, one allocation holds them all, one after the other, so that one address
/// and constant offsets serve; on the heap if that has more than `most_on_stack` bytes. To be called after what decides where
/// allocations are, and before publish_facts().
void join_tuples(Halide::Internal::GeneratorBase &generator, int most_on_stack);

} // namespace gyre
