/// What a loop carries from turn to turn, for what is computed before the loop's own update of it.
///
/// Halide has no Func depend on another that depends on it. A loop whose update folds what its turn has computed into a state,
///
///     top(i, turn) = max(carried("state", 0, Float(32), {0, i}, {d's extent}, turn), …)     // computed at the turn
///     state(d, i) = Tuple(top(i, loop), …)                                                  // the update
///
/// may read in `top` what the turns before left in the state: the first element of its Tuple, for row i.
#pragma once
#include <Halide.h>

#include <string>
#include <vector>

namespace gyre::cuda {

/// Element `index` of the Tuple that the Func of this name is, in registers; `place`: in an array, innermost first, whose
/// extents, but for the last one, are `extents`. Only where the Func's own update loop is around it, of which this is the turn.
Halide::Expr carried(const std::string &func, int index, const Halide::Type &type,
                     const std::vector<Halide::Expr> &place, const std::vector<int> &extents, const Halide::Expr &turn);

/// Puts reads of the arrays that the Funcs are in their places.
Halide::Internal::Stmt read_carried(const Halide::Internal::Stmt &nest);

/// The array of element `index` of such a Func, of those in scope; "": there is none.
std::string array_of(const std::string &func, int index, const std::vector<std::string> &scope);

} // namespace gyre::cuda
