/// What a call drops in tests.
#pragma once
#include <gyre/gyre.h>

#include <cstdint>

namespace gyre::test {

inline void set_dropout(gyre_attention_args &args, float probability, uint64_t seed = 0x123456789abcdefu,
                        uint32_t offset = 3) {
    args.dropout = probability;
    args.dropout_seed = seed;
    args.dropout_offset = offset;
}

} // namespace gyre::test
