#include "feature.h"

#include "transcendental.h"

namespace gyre {
using namespace Halide;
namespace {

/// e^x for x <= 0; above, some number that is not taken.
Expr exp_nonpositive(const Expr &x, const Target &target) {
    constexpr float log2_e = 1.44269504088896f;
    // Vectors of 32-bit ARM have no numbers below 2^-126: two features and a value of 2^-22 multiply to no less.
    constexpr float least_on_arm_32 = -52;
    // Elsewhere features end at 2^-64, so that no sum of them, which divides, is 0.
    constexpr float least = -64;
    const bool on_arm_32 = target.arch == Target::ARM && target.bits == 32;
    return on_arm_32 ? exp2_nonpositive_by_bits(x * log2_e, least_on_arm_32) : exp2_nonpositive(x * log2_e, least);
}

/// x > 0. LLVM compares halves instead of what they were widened to, on ARM by an instruction of ARMv8.2: hence by bits,
/// of which those of positive numbers are 1 to 0x7f800000.
Expr is_positive(const Expr &x, const Target &target) {
    const auto *widened = x.as<Internal::Cast>();
    const bool of_half = widened && widened->value.type().element_of() == Float(16);
    if (target.arch != Target::ARM || target.bits == 32 || !of_half) return x > 0.0f;
    return reinterpret<uint32_t>(x) - Expr(1u) < Expr(0x7f800000u);
}

} // namespace

// Either way round the comparison may be compiled, a NaN comes out as one.
Expr feature(const Expr &x, const Target &target) {
    return select(is_positive(x, target), x + 1.0f, exp_nonpositive(x, target));
}

Expr feature_slope(const Expr &x, const Target &target) {
    return select(is_positive(x, target), 1.0f, exp_nonpositive(x, target));
}

} // namespace gyre
