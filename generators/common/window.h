/// Windows as kernels for CUDA take them: how many keys a query sees before its own position, and beyond it.
#pragma once
#include <Halide.h>

namespace gyre {

/// False if one side of the window has no bound: the runtime then hands a kernel 2^29, where positions are below 2^28.
inline Halide::Expr is_bounded(const Halide::Expr &side) { return side < 1 << 28; }

} // namespace gyre
