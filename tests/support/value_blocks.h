/// Caches whose values are in blocks (gyre_value_order), made from such that are rows.
#pragma once
#include <gyre/gyre.h>

#include <cstdint>
#include <vector>

namespace gyre::test {

/// Elements of [… , slots, dim] rows, as blocks have them: by gyre.h's picture.
template <typename Element>
std::vector<Element> to_blocks(const std::vector<Element> &rows, int64_t slots, int64_t dim) {
    std::vector<Element> blocks(rows.size());
    for (size_t i = 0; i < rows.size(); i++) {
        const int64_t d = (int64_t)i % dim, slot = (int64_t)i / dim % slots, head = (int64_t)i / dim / slots;
        const int64_t block = slot / GYRE_VALUE_BLOCK;
        const int64_t at =
            (head * slots + block * GYRE_VALUE_BLOCK) * dim + d * GYRE_VALUE_BLOCK + slot % GYRE_VALUE_BLOCK;
        blocks[(size_t)at] = rows[i];
    }
    return blocks;
}

} // namespace gyre::test
