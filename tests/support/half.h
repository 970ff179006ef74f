/// f16 and bf16 for the tests: one rounding routine for both, from double, to nearest even, without a double rounding.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace gyre::test {

/// A 16-bit floating point format: a sign, exponent bits, mantissa bits.
struct HalfFormat {
    int exponent_bits, mantissa_bits;
    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    int largest_exponent() const { return (1 << exponent_bits) - 1; } // infinities and NaN
};

constexpr HalfFormat f16_format{5, 10}, bf16_format{8, 7};

/// Returns 2^exponent, for exponents of normal doubles.
inline double power_of_two(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return power;
}

/// The exponent of a normal double; for a smaller one, something below all of them.
inline int exponent_of(double x) {
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 52 & 0x7ff) - 1023;
}

inline uint16_t encode_half(double x, HalfFormat format) {
    const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const int special = format.largest_exponent() << format.mantissa_bits;
    if (std::isnan(x)) return (uint16_t)(sign | special | 1 << (format.mantissa_bits - 1));
    if (x == 0) return sign;
    // The spacing of the format's numbers around x; below the smallest normal number it no longer shrinks.
    const int exponent = std::max(exponent_of(x), 1 - format.bias());
    if (exponent > format.bias()) return (uint16_t)(sign | special);
    const double steps = std::nearbyint(std::fabs(x) * power_of_two(format.mantissa_bits - exponent));
    // A carry out of the mantissa runs into the exponent by itself; a subnormal has no implicit leading bit.
    const int code = ((exponent + format.bias() - 1) << format.mantissa_bits) + (int)steps;
    return code >= special ? (uint16_t)(sign | special) : (uint16_t)(sign | (uint16_t)code);
}

inline double decode_half(uint16_t code, HalfFormat format) {
    const int mantissa = code & ((1 << format.mantissa_bits) - 1);
    const int exponent = (code >> format.mantissa_bits) & format.largest_exponent();
    const double sign = code & 0x8000 ? -1.0 : 1.0;
    if (exponent == format.largest_exponent())
        return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
    const int leading = exponent ? 1 << format.mantissa_bits : 0;
    const int scale = (exponent ? exponent : 1) - format.bias() - format.mantissa_bits;
    return sign * (leading + mantissa) * power_of_two(scale);
}

} // namespace gyre::test
