/// Loops in which nothing is done, because the loop inside has no turn in this call.
#pragma once
#include <Halide.h>

#include <string>

namespace gyre {

/// Loops of `func` over `variable` that hold one loop, and nothing else, run only if that has turns: its extent is asked for once, before them. Where the
/// extent is known, or changes with the outer loop, they are left as they are.
void skip_empty_loops(Halide::Internal::GeneratorBase &generator, const std::string &func, const std::string &variable);

} // namespace gyre
