/// Which kernel serves an attention call.
#pragma once
#include "attention/call.h"
#include "attention/score_inputs.h"

#include <string_view>
#include <vector>

namespace gyre {

struct AttentionKernel {
    const Kernel *kernel = nullptr;
    gyre_dtype dtype = GYRE_F32;
    bool general = false;
    bool partial = false;   // writes f32, to be merged with the results for other keys
    bool as_stored = false; // reads keys and values where they are: they are not rotated
    bool padded = false;    // serves every head size up to head_dim
    int64_t head_dim = 0;
    int64_t row_tile = 0, task_rows = 0; // rows of a task: at most task_rows, a multiple of row_tile
    int64_t key_block = 0;
    size_t workspace = 0;   // bytes
    std::string_view score; // its score function's name; empty: none
    ScoreInputs score_inputs;
};

/// The best target's kernel for this call's type, head sizes, family and score function: one made for its head sizes,
/// else the smallest padded one; of the plain family rather than of the general one, which takes every call; one that reads keys as stored where it can. With
/// `partial` one for a part of the keys. nullptr: none is linked.
const AttentionKernel *find_attention_kernel(const gyre_context &context, const AttentionCall &call, bool partial);

/// The names of the score functions of all kernels that calls with this context may use, in order.
std::vector<std::string_view> usable_scores(const gyre_context &context);

} // namespace gyre
