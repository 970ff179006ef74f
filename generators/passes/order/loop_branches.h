/// Conditions that do not change in a loop: one branch before it, in place of a selection in every turn.
#pragma once
#include <Halide.h>

namespace gyre {

/// `condition`, where branch_before_loops() is to branch by it. Every use of the result selects between values.
Halide::Expr branch(const Halide::Expr &condition);

/// The outermost loops in which a mark of branch() does not change become two, one where it is true and one where it is not, each of
/// which forms what it needs alone; and so do definitions and stores outside of such loops. A loop with marks of several conditions branches by one after
/// the other. Stops the build if there is none.
void branch_before_loops(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
