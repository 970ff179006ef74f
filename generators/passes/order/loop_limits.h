/// Loops that a schedule cannot keep from running, limited once the pipeline is lowered.
///
/// Halide guards an update by the conditions of its reduction domain, yet forms what the update reads in any case, and for
/// the whole of a range that it only knows the bounds of, unless it can solve the condition. Loops are named as a split, a
/// reduction or a pure dimension names them; a name that no loop has stops the build.
#pragma once
#include <Halide.h>

#include <functional>
#include <string>

namespace gyre {

/// `loop` runs only if `flag`, an int32 Func without dimensions that is computed before it, is not 0; and with it all that is
/// formed in it.
void guard_loop(Halide::Internal::GeneratorBase &generator, const std::string &loop, const Halide::Func &flag);

/// Guards `loop` of `of` alone by the flag, which may have dimensions if they are one place where the loop reads it.
void guard_loop(Halide::Internal::GeneratorBase &generator, const Halide::Func &of, const std::string &loop,
                const Halide::Func &flag);

/// Within each turn of `outer`, `loop` of `of` ends after extent(outer's variable) turns, if that is less than it would take.
/// What it then leaves out must be read by nothing that counts.
void end_loop_early(Halide::Internal::GeneratorBase &generator, const Halide::Func &of, const std::string &loop,
                    const std::string &outer, const std::function<Halide::Expr(Halide::Expr)> &extent);

} // namespace gyre
