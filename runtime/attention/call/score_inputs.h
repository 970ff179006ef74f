/// The tensors that a call gives a kernel's score function.
#pragma once
#include "attention/call/call.h"
#include "core/asked_inputs.h"

#include <array>

namespace gyre {

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
