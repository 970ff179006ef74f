/// Philox 4x32-10 and the dropout that follows from it, by their definitions: Salmon et al., Parallel Random Numbers: As Easy as
/// 1, 2, 3 (SC 2011), and gyre_attention_args.dropout.
#pragma once
#include <gyre/gyre.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace gyre::test {

inline std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> x, std::array<uint32_t, 2> key) {
    for (int round = 0; round < 10; round++) {
        const uint64_t left = uint64_t{0xd2511f53u} * x[0], right = uint64_t{0xcd9e8d57u} * x[2];
        x = {(uint32_t)(right >> 32) ^ x[1] ^ key[0], (uint32_t)right, (uint32_t)(left >> 32) ^ x[3] ^ key[1],
             (uint32_t)left};
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    return x;
}

/// What probability P_ij of a head of an entry is multiplied by.
inline double dropout_factor(const gyre_attention_args &args, int64_t num_heads, int64_t entry, int64_t head, int64_t i,
                             int64_t j) {
    if (args.dropout == 0) return 1;
    const auto words =
        philox4x32({(uint32_t)(j / 4), (uint32_t)i, (uint32_t)(entry * num_heads + head), args.dropout_offset},
                   {(uint32_t)(args.dropout_seed & 0xffffffffu), (uint32_t)(args.dropout_seed >> 32)});
    const bool dropped = (double)words[(size_t)(j % 4)] < std::floor((double)args.dropout * 4294967296.0);
    return dropped ? 0 : 1 / (1 - (double)args.dropout);
}

} // namespace gyre::test
