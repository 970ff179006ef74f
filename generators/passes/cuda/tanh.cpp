#include "tanh.h"

#include "primitives.h"

namespace gyre::cuda {
using namespace Halide;

// tanh x = 1 - 2 r, where e^2x overflows to what it should; near 0, where that loses bits, the Taylor series.
Tuple tanh_approx(const Expr &x) {
    constexpr float log2_e = 1.44269504088896f;
    const Expr square = x * x, above = 1.0f + exp2_approx(x * (2 * log2_e)), r = reciprocal_approx(above);
    const Expr small = x * (1.0f - square * (1.0f / 3 - square * (2.0f / 15)));
    return {select(square < 0.01f, small, 1.0f - 2.0f * r), r};
}

} // namespace gyre::cuda
