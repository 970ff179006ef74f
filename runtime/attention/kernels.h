/// Which kernel serves an attention call.
#pragma once
#include "attention/call.h"

namespace gyre {

struct AttentionKernel {
    const Kernel *kernel = nullptr;
    gyre_dtype dtype = GYRE_F32;
    bool general = false;
    bool padded = false; // serves every head size up to head_dim
    int64_t head_dim = 0;
    int64_t row_tile = 0, task_rows = 0; // rows of a task: at most task_rows, a multiple of row_tile
    int64_t key_block = 0;
    size_t workspace = 0; // bytes
};

/// The best target's kernel for this type and these head sizes: one made for them, else the smallest padded one.
/// nullptr: none is linked.
const AttentionKernel *find_attention_kernel(const gyre_context &context, gyre_dtype dtype, int64_t head_dim,
                                             int64_t v_head_dim, bool general);

} // namespace gyre
