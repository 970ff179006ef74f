/// The logarithms of softmax denominators, [batch, heads, seqlen] ([heads, tokens] for thd) beside a tensor of heads.
#pragma once
#include "core/tensor.h"

namespace gyre {

struct Lse {
    float *data = nullptr;                     // NULL: not wanted
    int64_t batch_stride = 0, head_stride = 0; // elements; 1 along seqlen

    float *at(int64_t batch, int64_t token, int64_t head) const {
        return data + batch * batch_stride + head * head_stride + token;
    }
    /// The view that is looked at for overlaps: [batch, heads, 1, seqlen].
    Heads as_heads(const Heads &beside) const;
};

/// Checks the tensor against the heads that it is beside, then the view.
gyre_status view_lse(const gyre_tensor &t, const char *name, gyre_layout layout, const Heads &beside, bool need_data,
                     Lse *lse);

} // namespace gyre
