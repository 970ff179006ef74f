/// One batch entry of a call's tensors.
#pragma once
#include <gyre/tensor.h>

namespace gyre::test {

/// Batch entry `b` of a view of f32, f16 or bf16 numbers, or of a mask, [batch, …].
inline gyre_tensor entry_of(gyre_tensor view, int64_t b) {
    const int64_t bytes = view.dtype == GYRE_F32 ? 4 : view.dtype == GYRE_BOOL ? 1 : 2;
    view.data = static_cast<char *>(view.data) + b * view.strides[0] * bytes;
    view.shape[0] = 1;
    return view;
}

} // namespace gyre::test
