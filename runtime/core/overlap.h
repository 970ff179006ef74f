/// Whether tensors share memory.
#pragma once
#include "core/tensor.h"

namespace gyre {

/// True if no two elements of the view share memory, so that threads may write them. Sufficient, not necessary: strides
/// that interleave dimensions are taken for overlap.
bool writable(const Heads &v);

/// True if the views share no byte: apart from each other, or slots of one packed array (as q, k and v often are).
bool disjoint(const Heads &a, const Heads &b);

/// True if the memory from the tensor's lowest to its highest element holds no byte of the view.
bool disjoint(const gyre_tensor &t, const Heads &v);

/// True if the two views are the same elements in the same places, or disjoint.
bool same_or_disjoint(const Heads &a, const Heads &b);

} // namespace gyre
