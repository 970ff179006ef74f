/// The 16-bit floating-point formats, converted one number at a time, to nearest even.
///     f16  (IEEE 754 binary16)   s eeeee mmmmmmmmmm          bf16  (upper half of binary32)   s eeeeeeee mmmmmmm
#pragma once

#include <cstdint>

namespace gyre::cli {

float f16_to_f32(std::uint16_t half);
std::uint16_t f32_to_f16(float value); // too large becomes infinite, NaN stays NaN
float bf16_to_f32(std::uint16_t brain);
std::uint16_t f32_to_bf16(float value);

} // namespace gyre::cli
