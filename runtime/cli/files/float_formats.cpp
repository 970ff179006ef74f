#include "files/float_formats.h"

#include <cmath>
#include <cstring>

namespace gyre::cli {
namespace {

std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

float float_of(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace

float f16_to_f32(std::uint16_t half) {
    const std::uint32_t sign = std::uint32_t(half & 0x8000u) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1fu;
    const std::uint32_t mantissa = half & 0x3ffu;
    if (exponent == 0) { // zero or subnormal: mantissa * 2^-24 is exact in f32
        const float magnitude = std::ldexp(float(mantissa), -24);
        return float_of(bits_of(magnitude) | sign);
    }
    if (exponent == 0x1f) return float_of(sign | 0x7f800000u | (mantissa << 13));
    return float_of(sign | ((exponent + 127 - 15) << 23) | (mantissa << 13));
}

std::uint16_t f32_to_f16(float value) {
    const std::uint16_t sign = std::uint16_t((bits_of(value) >> 16) & 0x8000u);
    const std::uint32_t bits = bits_of(value) & 0x7fffffffu;
    if (bits > 0x7f800000u) return sign | 0x7e00u;  // NaN
    if (bits >= 0x47800000u) return sign | 0x7c00u; // 2^16 and more
    if (bits < 0x38800000u) {                       // below 2^-14: counts multiples of 2^-24
        return std::uint16_t(sign | std::uint16_t(std::nearbyint(std::ldexp(float_of(bits), 24))));
    }
    const std::uint32_t rebased = bits - (std::uint32_t(127 - 15) << 23);
    // A carry out of the mantissa lands in the exponent, where it belongs, up to infinity.
    return std::uint16_t(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
}

float bf16_to_f32(std::uint16_t brain) { return float_of(std::uint32_t(brain) << 16); }

std::uint16_t f32_to_bf16(float value) {
    const std::uint32_t bits = bits_of(value);
    if (std::isnan(value)) return std::uint16_t((bits >> 16) | 0x40u);
    return std::uint16_t((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

} // namespace gyre::cli
