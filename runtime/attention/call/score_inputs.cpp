#include "attention/call/score_inputs.h"

#include "core/error.h"
#include "core/kernel_call.h"
#include "core/overlap.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace gyre {
namespace {

/// "[2 or 1, 8 or 1, 5, any]" for a refusal.
std::string expected_shape(const ScoreInput &input, const int64_t (&full)[4], bool packed_tokens) {
    std::string text = "[";
    for (int d = 0; d < 2 + input.rank; d++) {
        if (d) text += ", ";
        const bool any = full[d] == ScoreInput::any, repeats = d < 2 && full[d] != 1 && !(d == 0 && packed_tokens);
        text += any ? "any" : std::to_string(full[d]);
        if (repeats) text += " or 1";
    }
    return text + "]";
}

gyre_status check_input(const ScoreInput &input, const gyre_tensor &t, const AttentionCall &c, bool need_data,
                        ScoreView *view) {
    char name[96];
    std::snprintf(name, sizeof name, "score_inputs.%.*s", static_cast<int>(input.name.size()), input.name.data());
    const int most = 2 + input.rank;
    const auto ranks = {std::max(input.rank, 1), most - 1, most};
    GYRE_TRY(check_tensor(t, name, ranks, {input.dtype}, need_data, any_strides));

    // What counts the tokens of packed sequences counts those of all of them, and there is one for all.
    bool packed_tokens = false;
    int64_t full[4] = {c.sequences, c.q.heads, 0, 0};
    for (int d = 0; d < input.rank; d++) {
        const int64_t extent = input.extents[d];
        packed_tokens |= c.layout == GYRE_THD && (extent == ScoreInput::queries || extent == ScoreInput::keys);
        full[2 + d] = extent == ScoreInput::queries ? c.q.seqlen : extent == ScoreInput::keys ? c.k.seqlen : extent;
    }
    if (packed_tokens) full[0] = 1;
    int64_t strides[4] = {};
    for (int i = 0; i < t.rank; i++) {
        const int d = most - t.rank + i;
        const bool repeats = d < 2 && t.shape[i] == 1;
        const bool fits = full[d] == ScoreInput::any ? t.shape[i] > 0 : t.shape[i] == full[d];
        if (!fits && !repeats)
            return refuse(GYRE_BAD_SHAPE, name, "got shape %s, expected %s", shape_text(t.shape, t.rank),
                          expected_shape(input, full, packed_tokens).c_str());
        strides[d] = t.shape[i] == 1 ? 0 : t.strides[i];
        if (d >= 2) view->extents[d - 2] = t.shape[i];
    }
    view->data = static_cast<const char *>(t.data);
    view->batch_stride = strides[0];
    view->head_stride = strides[1];
    view->strides[0] = strides[2];
    view->strides[1] = strides[3];
    if (!fits_kernel_index({{view->extents[0], view->strides[0]}, {view->extents[1], view->strides[1]}}))
        return refuse(GYRE_UNSUPPORTED, name, "one head reaches over 2^31 elements");
    if (!need_data) return GYRE_OK;
    if (!disjoint(t, c.out)) return refuse(GYRE_BAD_ARGUMENT, name, "overlaps out, expected other memory");
    if (!disjoint(t, c.lse.as_heads(c.q)))
        return refuse(GYRE_BAD_ARGUMENT, name, "overlaps lse, expected other memory");
    return GYRE_OK;
}

} // namespace

gyre_status check_score_inputs(const gyre_attention_args &a, const AttentionCall &c, const ScoreInputs &asked,
                               bool need_data, ScoreViews *views) {
    if (asked.count < 0)
        return refuse(GYRE_UNSUPPORTED, "score", "the kernels of %s were made for another version of this library",
                      c.score);
    std::array<bool, most_score_inputs> given{};
    for (int32_t i = 0; i < a.score_input_count; i++) {
        const gyre_score_input &input = a.score_inputs[i];
        if (!input.name) return refuse(GYRE_BAD_ARGUMENT, ArgumentName("score_inputs[%d].name", i), "got NULL");
        const auto *found =
            std::find_if(asked.begin(), asked.end(), [&](const ScoreInput &one) { return one.name == input.name; });
        if (found == asked.end())
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("score_inputs[%d].name", i), "%s does not ask for \"%.64s\"",
                          c.score, input.name);
        const auto place = static_cast<size_t>(found - asked.begin());
        if (given[place])
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("score_inputs[%d].name", i), "\"%s\" is given twice",
                          input.name);
        given[place] = true;
        GYRE_TRY(check_input(*found, input.tensor, c, need_data, &views->views[place]));
    }
    for (int i = 0; i < asked.count; i++)
        if (!given[static_cast<size_t>(i)]) {
            const std::string_view name = asked.inputs[static_cast<size_t>(i)].name;
            return refuse(GYRE_BAD_ARGUMENT,
                          ArgumentName("score_inputs.%.*s", static_cast<int>(name.size()), name.data()),
                          "is not given, %s asks for it", c.score);
        }
    return GYRE_OK;
}

} // namespace gyre
