/// A counter-based generator of random numbers: any word of its sequence follows from a counter and a key alone.
/// Philox 4x32 with 10 rounds. Source: Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3 (SC 2011),
/// section 4.
#pragma once
#include <Halide.h>

#include <array>

namespace gyre {

/// Four independent random words of 32 bits. Words and results are u32.
std::array<Halide::Expr, 4> philox(std::array<Halide::Expr, 4> counter, std::array<Halide::Expr, 2> key);

} // namespace gyre
