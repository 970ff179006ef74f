#include "feature.h"

#include "transcendental.h"

namespace gyre {
using namespace Halide;
namespace {

/// e^x for x <= 0; above, some number that is not taken.
Expr exp_nonpositive(const Expr &x, const Target &target) {
    constexpr float log2_e = 1.44269504088896f;
    const bool by_bits = target.arch == Target::ARM && target.bits == 32;
    return by_bits ? exp2_nonpositive_by_bits(x * log2_e) : exp2_nonpositive(x * log2_e);
}

} // namespace

// Either way round the comparison may be compiled, a NaN comes out as one.
Expr feature(const Expr &x, const Target &target) { return select(x > 0.0f, x + 1.0f, exp_nonpositive(x, target)); }

Expr feature_slope(const Expr &x, const Target &target) { return select(x > 0.0f, 1.0f, exp_nonpositive(x, target)); }

} // namespace gyre
