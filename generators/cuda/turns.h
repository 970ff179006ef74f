/// Cosine and sine of rotation angles in fixed point: WHAT is computed, where double precision is slow or missing.
///
/// An angle is position * frequency. Frequencies come in units of 2^-64 turns a token, as integers modulo 2^64: the product
/// with a position then wraps around as whole turns do, and what is left is the angle, off by position * 2^-65 turns at most.
#pragma once
#include <Halide.h>

namespace gyre::cuda {

/// {cos, sin} of position (int32) times frequency (uint64), |error| below 2e-7. For generators that end in lower_to_cuda().
Halide::Tuple sincos_of_turns(const Halide::Expr &position, const Halide::Expr &frequency);

} // namespace gyre::cuda
