#include "transcendental.h"

#include <initializer_list>

namespace gyre {
using namespace Halide;

// The coefficients are minimax fits made for these intervals (iteratively reweighted least squares in double).
namespace {

/// c0 + x (c1 + x (c2 + …)).
Expr polynomial(const Expr &x, std::initializer_list<float> coefficients) {
    Expr sum;
    for (auto c = std::rbegin(coefficients); c != std::rend(coefficients); ++c)
        sum = sum.defined() ? sum * x + *c : Expr(*c);
    return sum;
}

// Adding 1.5 * 2^23 leaves the nearest integer n in the lowest bits; subtracting it again gives n as a number. Both
// must be exact, hence strict_float. With the exponent's bias added as well, these bits are those of 2^n once they are
// shifted, and of 0 for n = -127. The product with them keeps a NaN, which a sum of bits would not. There is one such
// power a score, so every operation counts.
Expr exp2_by(const Expr &clamped, std::initializer_list<float> coefficients) {
    constexpr float rounds = 12582912.0f + 127.0f;
    const Expr shifted = strict_float(clamped + rounds);
    const Expr f = clamped - strict_float(shifted - rounds); // [-1/2, 1/2]
    return polynomial(f, coefficients) * reinterpret<float>(reinterpret<int32_t>(shifted) << 23);
}

Expr clamp_below(const Expr &x, float least) {
    return select(strict_float(x < least), least, x); // in this order a NaN passes
}

// c0 is 1, so that the power of 0 is: it multiplies what has been summed so far once a block of keys.
Expr exp2_of_clamped(const Expr &x) {
    return exp2_by(x, {1.0f, 0.693146977597f, 0.240222420818f, 0.0555073374565f, 0.00967151286227f, 0.00132647270802f});
}

} // namespace

Expr exp2_nonpositive(const Expr &x, float least) { return exp2_of_clamped(clamp_below(x, least)); }

// The power of what is below is formed, whatever it is, and not taken: where lanes have masks this costs no operation more than clamping.
Expr exp2_nonpositive_or_zero(const Expr &x) {
    return select(strict_float(x < exp2_counts_as_zero), 0.0f, exp2_of_clamped(x)); // in this order a NaN passes
}

Expr exp2_nonpositive_by_bits(const Expr &x, float least) {
    return exp2_of_clamped(reinterpret<float>(min(reinterpret<uint32_t>(x), reinterpret<uint32_t>(Expr(least)))));
}

Expr exp2_nonpositive_by_maximum(const Expr &x, float least) { return exp2_of_clamped(max(x, least)); }

Expr exp2_nonpositive_bf16(const Expr &x) {
    return exp2_by(clamp_below(x, exp2_is_zero), {0.999928072917f, 0.69326098644f, 0.242611132794f, 0.0551716687606f});
}

// (e^2x - 1) / (e^2x + 1), with e^2x - 1 formed so that nothing cancels near 0: strict_float, because a compiler that may
// reorder sums would subtract the 1 last.
Expr tanh_accurate(const Expr &x) {
    const Expr doubled = abs(x) * 2.88539008178f;                         // 2 |x| log2(e)
    const Expr y = select(strict_float(doubled > 30.0f), 30.0f, doubled); // beyond 30 the result is 1; a NaN passes
    const Expr n = cast<int32_t>(y + 0.5f);
    const Expr f = y - cast<float>(n);
    const Expr part = f * polynomial(f, {0.693147188029f, 0.240226510842f, 0.055503571055f, 0.00961803077174f,
                                         0.00133908668532f, 0.00015469734818f});
    const Expr power = reinterpret<float>((n + 127) << 23);
    const Expr expm1 = power * part + strict_float(power - 1.0f);
    const Expr magnitude = expm1 / (expm1 + 2.0f);
    return select(x < 0.0f, -magnitude, magnitude);
}

Expr log_positive(const Expr &x) {
    const Expr bits = reinterpret<int32_t>(x);
    const Expr exponent = (bits - 0x3f3504f3) >> 23; // so that the mantissa lies in [sqrt(1/2), sqrt(2))
    const Expr mantissa = reinterpret<float>(bits - (exponent << 23));
    const Expr e = cast<float>(exponent);
    const Expr s = (mantissa - 1.0f) / (mantissa + 1.0f);
    const Expr odd = s * s * s * polynomial(s * s, {0.666667763817f, 0.399775415687f, 0.298717279137f});
    return e * 0.693145751953f + (2.0f * s + (odd + e * 1.42860682030e-6f)); // ln 2 in two parts
}

SinCos sincos_of_double(const Expr &angle) {
    const Expr turns = angle * Expr(0.63661977236758134308); // quarter turns
    const Expr quarter = cast<int32_t>(turns + select(turns < Expr(0.0), Expr(-0.5), Expr(0.5)));
    const Expr r = cast<float>(angle - cast<double>(quarter) * Expr(1.57079632679489661923)); // [-pi/4, pi/4]
    const Expr u = r * r;
    const Expr sine = r + r * u * polynomial(u, {-0.166666549437f, 0.00833217814574f, -0.000195172989374f});
    const Expr cosine =
        (1.0f - 0.5f * u) + u * u * polynomial(u, {0.0416666468664f, -0.0013887367515f, 2.44384515162e-05f});
    const Expr swap = (quarter & 1) != 0;
    const Expr s = select(swap, cosine, sine), c = select(swap, sine, cosine);
    return {select((quarter & 2) != 0, -s, s), select(((quarter + 1) & 2) != 0, -c, c)};
}

} // namespace gyre
