/// What a kernel's score function asks the caller for, and the tensors that a call gives it.
#pragma once
#include "attention/call.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace gyre {

constexpr int most_score_inputs = 16;

/// One tensor that a score function asks for, without the extents of batch and heads.
struct ScoreInput {
    enum Extent : int64_t { any = -1, queries = -2, keys = -3 };

    std::string_view name;
    gyre_dtype dtype = GYRE_F32;
    int rank = 0;                // 0: one number
    int64_t extents[2] = {0, 0}; // > 0, or an Extent
};

struct ScoreInputs {
    std::array<ScoreInput, most_score_inputs> inputs;
    int count = 0; // -1: the text is not understood

    const ScoreInput *begin() const { return inputs.data(); }
    const ScoreInput *end() const { return inputs.data() + std::max(count, 0); }
};

/// Reads a kernel's attribute score_inputs, "bias:f32:32,documents:i32:keys".
ScoreInputs parse_score_inputs(std::string_view text);

/// A caller's tensor, as tasks slice it. Strides in elements; those of repeated dimensions are 0.
struct ScoreView {
    const char *data = nullptr;
    int64_t batch_stride = 0, head_stride = 0;
    int64_t extents[2] = {1, 1}, strides[2] = {0, 0};
};

struct ScoreViews {
    std::array<ScoreView, most_score_inputs> views; // in the order of the kernel's inputs
};

/// Finds each input that a kernel asks for among a call's and checks it. Errors: each names the argument or the input
/// as score_inputs.name. BAD_ARGUMENT (one that is missing, given twice or not asked for; no data; overlap with an
/// output), BAD_TYPE, BAD_SHAPE, UNSUPPORTED (a device; a reach of 2^31 elements).
gyre_status check_score_inputs(const gyre_attention_args &args, const AttentionCall &call, const ScoreInputs &asked,
                               bool need_data, ScoreViews *views);

} // namespace gyre
