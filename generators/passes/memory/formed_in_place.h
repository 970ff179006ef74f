/// What a loop's first turn copies is formed where it is copied to.
#pragma once
#include <Halide.h>
#include <string>

namespace gyre {

/// A loop's first turn, behind a branch, copies `product` to the same places of `state`, and later turns fold it into `state`. The first turn
/// forms it there, and copies nothing; the others form it behind `state`, whose allocation has twice its size. Stops the build if there is
/// no such branch. To be called after branch_before_loops() and join_tuple().
void form_in_place(Halide::Internal::GeneratorBase &generator, const std::string &product, const std::string &state);

} // namespace gyre
