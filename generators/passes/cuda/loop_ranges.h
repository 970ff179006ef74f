/// Loops of a kernel whose ends are known on the device only.
#pragma once
#include "lower.h"

namespace gyre::cuda {

/// Halide needs a loop over a reduction to have a range that the host knows. What lies outside of the range that a Func tells
/// is left out, which is right if what it would compute counts for nothing.
Halide::Internal::Stmt limit_loops(const Halide::Internal::Stmt &nest, const std::map<std::string, LoopRange> &ranges);

} // namespace gyre::cuda
