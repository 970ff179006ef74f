/// The attention kernels that are linked, and what each is made for.
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
    bool partial = false;      // writes f32, to be merged with the results for other keys
    bool as_stored = false;    // reads keys and values where they are: they are not rotated
    bool value_blocks = false; // likewise, values in blocks
    bool formed = false;       // reads FormedOperands
    bool dropout = false;      // drops probabilities
    bool padded = false;       // serves every head size up to head_dim
    bool bounded = false;      // computes small scores apart, for which it asks how much longer rotation makes keys
    int64_t head_dim = 0;
    int64_t row_tile = 0, task_rows = 0; // rows of a task: at most task_rows, a multiple of row_tile
    int64_t key_block = 0;
    size_t workspace = 0;   // bytes
    std::string_view score; // its score function's name; empty: none
    ScoreInputs score_inputs;
};

/// Those that are linked of one family, by its row among the rules of dispatch; best target first.
const std::vector<AttentionKernel> &attention_kernels(size_t family);

/// The names of the score functions of all kernels that calls with this context may use, in order.
std::vector<std::string_view> usable_scores(const gyre_context &context);

} // namespace gyre
