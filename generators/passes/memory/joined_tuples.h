/// The elements of a Tuple in one allocation.
#pragma once
#include <Halide.h>
#include <string>

namespace gyre {

/// Halide allocates each element of a Tuple by itself, and each takes an address of its own wherever elements are used. Where
/// their types and sizes are the same and constant, one allocation holds them all, one after the other, so that one address
/// and constant offsets serve; on the heap if that has more than `most_on_stack` bytes. To be called after what decides where
/// allocations are, and before publish_facts().
void join_tuples(Halide::Internal::GeneratorBase &generator, int most_on_stack);

/// Joins the Tuple of one Func, on the stack, where rows of `apart` places have room for each other: the schedule aligns the rows of
/// each element to the sum of all. Element c of a row is then at c * `apart` of it, so that places past the end of a row of the first
/// element are those of the next ones. To be called before what decides where allocations are.
void join_tuple(Halide::Internal::GeneratorBase &generator, const std::string &func, int apart);

} // namespace gyre
