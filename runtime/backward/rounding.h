/// Rows as a forward kernel multiplies them that rounds what it has rotated.
#pragma once
#include <cstdint>
#include <cstring>

namespace gyre {

/// Rounds numbers to the nearest that bf16 holds, ties to even. NaN stays NaN.
inline void round_to_bf16(float *numbers, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        std::memcpy(&bits, numbers + i, sizeof bits);
        const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
        bits = nan ? bits | 0x00400000u : bits + 0x7fffu + (bits >> 16 & 1);
        bits &= 0xffff0000u;
        std::memcpy(numbers + i, &bits, sizeof bits);
    }
}

} // namespace gyre
