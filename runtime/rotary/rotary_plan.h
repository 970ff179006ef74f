/// A checked rotation on the CPU: its kernels, its angles, and runs of tokens as its tasks.
#pragma once
#include "rotary/rotary_call.h"
#include "rotary/rotary_kernel.h"

namespace gyre {

class RotaryPlan {
public:
    RotaryCall call;

    /// Chooses kernel and angles for this context.
    gyre_status prepare(gyre_context &context);

    size_t workspace_bytes(const gyre_context &context) const;

    /// Rotates. Errors: INTERNAL.
    gyre_status run(gyre_context &context, char *memory) const;

private:
    Angles angles;
    const RotaryKernel *kernel = nullptr;
    const RotaryKernel *streaming = nullptr;
    size_t slab_bytes = 0;

    int64_t runs() const;
    int64_t tasks() const;
    const RotaryKernel &kernel_for(const RotatedTensor &t) const;
    bool rotate_run(int64_t task, char *memory) const;
};

} // namespace gyre
