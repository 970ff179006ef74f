/// The bytes that follow from a seed.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

namespace gyre::fuzz {

/// By SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): half a microsecond, where hostile calls take some few.
inline std::vector<uint8_t> bytes_of_seed(uint64_t seed) {
    constexpr size_t count = 1024; // more than a case reads
    std::vector<uint8_t> bytes(count);
    uint64_t state = seed << 32; // far from what other seeds begin with
    for (size_t i = 0; i < count; i += sizeof state) {
        state += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t mixed = state;
        mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
        mixed ^= mixed >> 31;
        std::memcpy(&bytes[i], &mixed, sizeof mixed);
    }
    return bytes;
}

} // namespace gyre::fuzz
