/// The tokens and keys of one call of a kernel of attention.
#pragma once
#include "attention/task/task.h"

namespace gyre {

struct TaskExtent {
    Sequence sequence;
    int64_t index, part, head, heads, first_token, tokens;
    int64_t first_key, keys; // whole blocks, as far as there are keys, of those that some token sees
};

/// Rounded up to whole blocks.
inline int64_t to_block_end(const AttentionKernel &kernel, int64_t keys) {
    return ceil_div(keys, kernel.key_block) * kernel.key_block;
}

} // namespace gyre
