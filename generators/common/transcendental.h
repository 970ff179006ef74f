/// Elementary functions in f32, as polynomials that vectorise on every target and need no library.
#pragma once
#include <Halide.h>

namespace gyre {

/// 2^x for x <= 0, relative error below 3e-7. Arguments below -64 count as -64: the result, 5e-20, is still a normal
/// number, where a subnormal one would make the multiply-adds that follow twenty times slower. NaN stays NaN.
Halide::Expr exp2_nonpositive(const Halide::Expr &x);

/// The same where comparisons of vectors take NaN for a small number, and arithmetic's only NaN has no sign: 32-bit ARM.
/// Arguments below `least` count as it.
Halide::Expr exp2_nonpositive_by_bits(const Halide::Expr &x, float least = -64);

/// The same for results that are rounded to bf16 next: relative error below 8e-5, a fiftieth of that rounding.
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
