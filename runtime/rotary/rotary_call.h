/// A checked rotation of the heads of one or two tensors, by the same angles.
#pragma once
#include "cuda/tensors.h"
#include "rotary/rotary_kernel.h"

namespace gyre {

/// What is rotated, and where the result goes.
struct RotatedTensor {
    Heads from, to;
    const char *from_name, *to_name; // in the caller's arguments
    bool in_place = false;
};

/// What is the same for all tensors of a call, as the caller gave it.
struct RotaryOptions {
    const gyre_rope &rope;
    int32_t reverse;
    const gyre_tensor *positions;
    int64_t position_offset;
};

class RotaryCall {
public:
    /// To be called first: tells whether the call runs on the CPU or a CUDA device, where all its tensors must then be, those
    /// that are only read included. Errors: those of cuda::adopt_tensors().
    gyre_status place(std::initializer_list<cuda::Named> tensors, gyre_rope *rope, const gyre_tensor **positions);

    /// Adds a tensor: of the type, batch, length and head_dim of the first. Errors name it by these names.
    gyre_status add(const gyre_tensor &from, const char *from_name, const gyre_tensor &to, const char *to_name,
                    gyre_layout layout, bool need_data);

    /// Checks the rest, after all tensors have been added.
    gyre_status check(const RotaryOptions &options, bool need_data);

    /// Chooses kernel and angles for this context.
    gyre_status prepare(gyre_context &context);

    size_t workspace_bytes(const gyre_context &context) const;

    /// Rotates. Errors: INTERNAL.
    gyre_status run(gyre_context &context, char *memory) const;

private:
    RotatedTensor tensors[2];
    int count = 0;
    Rotation rotation;
    Positions positions;
    Angles angles;
    const RotaryKernel *kernel = nullptr;
    const RotaryKernel *streaming = nullptr;
    float direction = 1;
    size_t slab_bytes = 0;
    bool on_device = false;
    cuda::Device device = -1; // -1: all tensors are empty
    gyre_tensor only_read[3]; // positions, cosines and sines, as the checks see them

    gyre_status check_device_data(const RotaryOptions &options) const;
    gyre_status prepare_on_device(const gyre_context &context);
    gyre_status run_on_device(gyre_context &context) const;
    int64_t runs() const;
    int64_t tasks() const;
    const RotaryKernel &kernel_for(const RotatedTensor &t) const;
    bool rotate_run(int64_t task, char *memory) const;
};

} // namespace gyre
