/// The bytes that follow from a seed.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

namespace gyre::fuzz {

inline std::vector<uint8_t> bytes_of_seed(uint64_t seed) {
    constexpr size_t count = 1024; // more than a case reads
    std::mt19937_64 engine(seed);
    std::vector<uint8_t> bytes(count);
    for (uint8_t &byte : bytes) byte = (uint8_t)engine();
    return bytes;
}

} // namespace gyre::fuzz
