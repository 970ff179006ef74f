#include "core/value_blocks.h"

#include "core/error.h"

#include <algorithm>

namespace gyre {
namespace {

constexpr int64_t block = GYRE_VALUE_BLOCK;

} // namespace

gyre_status check_value_order(gyre_value_order order) {
    if (order == GYRE_VALUES_IN_ROWS || order == GYRE_VALUES_IN_BLOCKS) return GYRE_OK;
    return refuse(GYRE_BAD_ARGUMENT, "value_order",
                  "got %d, expected GYRE_VALUES_IN_ROWS (0) or GYRE_VALUES_IN_BLOCKS (1)", static_cast<int>(order));
}

gyre_status check_value_blocks(const Heads &v, const char *name) {
    if (v.dtype != GYRE_BF16)
        return refuse(GYRE_BAD_TYPE, name, "got %s, expected bf16 for values in blocks", dtype_name(v.dtype));
    if (v.seqlen % block != 0)
        return refuse(GYRE_BAD_SHAPE, name, "got %lld tokens, expected a multiple of %lld for values in blocks",
                      static_cast<long long>(v.seqlen), static_cast<long long>(block));
    if (!v.empty() && v.token_stride != v.dim)
        return refuse(GYRE_BAD_SHAPE, name,
                      "got a stride of %lld from token to token, expected the head size %lld for values in blocks",
                      static_cast<long long>(v.token_stride), static_cast<long long>(v.dim));
    return GYRE_OK;
}

void store_value_blocks(const char *rows, const Heads &v, int64_t entry, int64_t slot, int64_t tokens) {
    const auto *from = reinterpret_cast<const uint16_t *>(rows);
    for (int64_t h = 0; h < v.heads; h++) {
        for (int64_t done = 0; done < tokens;) {
            const int64_t first = (slot + done) % block;
            const int64_t count = std::min(block - first, tokens - done);
            auto *to = reinterpret_cast<uint16_t *>(v.at(entry, slot + done - first, h)) + first;
            const uint16_t *row = from + (done * v.heads + h) * v.dim;
            for (int64_t d = 0; d < v.dim; d++)
                for (int64_t t = 0; t < count; t++) to[d * block + t] = row[t * v.heads * v.dim + d];
            done += count;
        }
    }
}

} // namespace gyre
