/// One batch entry of a call's tensors.
#pragma once
#include <gyre/tensor.h>

namespace gyre::test {

/// Batch entry `b` of a view of f32 numbers, [batch, …].
inline gyre_tensor entry_of(gyre_tensor view, int64_t b) {
    view.data = static_cast<float *>(view.data) + b * view.strides[0];
    view.shape[0] = 1;
    return view;
}

} // namespace gyre::test
