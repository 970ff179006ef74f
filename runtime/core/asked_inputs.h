/// What a kernel's score function asks the caller for, by the kernel's attributes.
#pragma once
#include "gyre/gyre.h"

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

} // namespace gyre
