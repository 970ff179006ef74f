// Where a task's results are, and what rows get that see no key.
#include "attention/masks/spans.h"
#include "attention/task/extent.h"

#include <cmath>
#include <cstring>

namespace gyre {

/// Takes the task's from all rows' results: `out` begins with its part of the keys, and `lse` with its first row of that part.
Results AttentionTask::results_of(Results to, const TaskExtent &x, float *unwanted_lse) const {
    const Sequence &s = x.sequence;
    to.out.data += x.part * out_part_stride * static_cast<int64_t>(element_size(to.out.dtype));
    if (to.lse.data)
        to.lse.data = to.lse.at(s.batch, s.q_first + x.first_token, x.head) + x.part * lse_part_stride;
    else {
        to.lse.data = unwanted_lse;
        to.lse.head_stride = x.tokens;
    }
    return to;
}

/// A kernel's zeros, rotated back, may be negative, and whether it is asked for such a row depends on which rows share its task.
void AttentionTask::write_empty_rows(const TaskExtent &x, const KeysInSight &in_sight, const Results &to) const {
    const Sequence &s = x.sequence;
    const bool is_masked = call.mask.data && call.spans.rows;
    if (x.keys > 0 && in_sight.left < 0 && in_sight.right < 0 && !is_masked) return;
    for (int64_t i = 0; i < x.tokens; i++) {
        const int64_t token = x.first_token + i;
        const bool sees_none = x.keys == 0 || in_sight.of(token).empty();
        if (!sees_none && !is_masked) continue;
        for (int64_t h = 0; h < x.heads; h++) {
            if (!sees_none && !HeadInSight{call.spans, in_sight, x.index, x.head + h}.of(token).empty()) continue;
            std::memset(to.out.at(s.batch, s.q_first + x.first_token + i, x.head + h), 0,
                        static_cast<size_t>(to.out.dim) * element_size(to.out.dtype));
            to.lse.data[h * to.lse.head_stride + i] = -INFINITY;
        }
    }
}

} // namespace gyre
