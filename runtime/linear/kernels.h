/// The kernels that linear attention and its gradients consist of.
#pragma once
#include "linear/call.h"
#include "rotary/rotary_kernel.h"

namespace gyre {

/// A kernel, and the bytes of memory that it needs.
struct LinearPart {
    const Kernel *kernel = nullptr;
    size_t workspace = 0;
};

struct LinearKernels {
    LinearPart linear, outer, sums, panels;
    LinearPart features, slopes;                          // of the tensors' type
    LinearPart norms, norms_in_f32;                       // to the tensors' type; to f32
    const RotaryKernel *rotary = nullptr;                 // f32, of the call's pairing
    const RotaryKernel *load = nullptr, *store = nullptr; // from the tensors' type to f32, and back: copies

    int64_t chunk = 0;             // tokens at once
    int64_t tile = 0;              // rows that the kernel counts in a dimension of their own; divides `chunk`
    int64_t key_lanes = 0;         // of a panel; divides `chunk`
    int64_t features_multiple = 1; // that heads are padded to

    size_t workspace() const;
};

/// The best target's. Errors: UNSUPPORTED.
gyre_status find_linear_kernels(const gyre_context &context, const AttentionCall &call, bool backward,
                                LinearKernels *found);

} // namespace gyre
