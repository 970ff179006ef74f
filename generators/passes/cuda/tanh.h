/// tanh by the device's approximations: WHAT is computed.
#pragma once
#include <Halide.h>

namespace gyre::cuda {

/// {tanh x, r} in f32, where r = 1 / (1 + e^2x), so that 1 - tanh^2 x = 4 r (1 - r), which loses no bits where x >= 0.
Halide::Tuple tanh_approx(const Halide::Expr &x);

} // namespace gyre::cuda
