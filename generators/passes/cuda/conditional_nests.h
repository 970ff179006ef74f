/// Finds those of a loop's warp tiles that run in some turns only, so that the turns without them can have code of their own.
#pragma once
#include <Halide.h>

#include <functional>

namespace gyre::cuda {

/// What a loop does without the nests that run under a condition, and when any of these does; undefined: there are none.
struct Unconditional {
    Halide::Internal::Stmt rest;
    Halide::Expr else_when;
};

/// `body`: of a loop, without what is staged ahead of it. `turn`: all that one turn does. A nest stays, under its condition, if
/// that cannot be told before the turn and for all threads of a block alike: if it reads what the turn stores or defines, or asks
/// for the lane or the warp. Likewise stores of numbers that all threads share, of which `scalars` tells statements.
Unconditional without_conditional_nests(const Halide::Internal::Stmt &body, const Halide::Internal::Stmt &turn,
                                        const std::function<bool(const Halide::Internal::Stmt &)> &scalars);

} // namespace gyre::cuda
