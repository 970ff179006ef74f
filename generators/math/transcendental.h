/// Elementary functions in f32, as polynomials that vectorise on every target and need no library.
#pragma once
#include <Halide.h>

namespace gyre {

/// Powers of two from here on downwards are 0, and so are some up to half a unit above.
constexpr float exp2_is_zero = -127;

/// 2^x for x <= 0, relative error below 2e-7, and 1 for 0. Arguments below `least` count as it. NaN stays NaN.
Halide::Expr exp2_nonpositive(const Halide::Expr &x, float least = exp2_is_zero);

/// 2^x for x <= 0 as above, but 0 where x is below this, so that products with most numbers are 0 or normal: some processors take 100
/// cycles for each that is subnormal. NaN stays NaN.
constexpr float exp2_counts_as_zero = -100;
Halide::Expr exp2_nonpositive_or_zero(const Halide::Expr &x);

/// exp2_nonpositive() where comparisons of vectors take NaN for a small number, and arithmetic's only NaN has no sign:
/// 32-bit ARM.
Halide::Expr exp2_nonpositive_by_bits(const Halide::Expr &x, float least = exp2_is_zero);

/// exp2_nonpositive() where the maximum of vectors of NaN and a number is NaN: 64-bit ARM.
Halide::Expr exp2_nonpositive_by_maximum(const Halide::Expr &x, float least = exp2_is_zero);

/// exp2_nonpositive() for results that are rounded to bf16 next: relative error below 8e-5, a fiftieth of that rounding.
Halide::Expr exp2_nonpositive_bf16(const Halide::Expr &x);

/// tanh(x), relative error below 4e-7 for every x.
Halide::Expr tanh_accurate(const Halide::Expr &x);

/// Natural logarithm of a positive normal number, absolute error below 2e-7 near 1 and relative 2e-7 elsewhere.
Halide::Expr log_positive(const Halide::Expr &x);

/// Sine and cosine of an angle in double precision, |angle| < 2^31, as f32 with absolute error below 2e-7.
struct SinCos {
    Halide::Expr sin, cos;
};
SinCos sincos_of_double(const Halide::Expr &angle);

} // namespace gyre
