/// gyre_attention() with tensors on a CUDA device: one launch, before which the angles of keys and values that are rotated in
/// the call are formed by others, and after which parts of the keys are merged by another.
#pragma once
#include "attention/kernels.h"
#include "cuda/key_angles.h"
#include "cuda/split.h"
#include "cuda/tensors.h"

namespace gyre {

class AttentionOnDevice {
public:
    AttentionOnDevice() = default;
    AttentionOnDevice(const AttentionOnDevice &) = delete; // it points into itself
    AttentionOnDevice &operator=(const AttentionOnDevice &) = delete;

    /// Takes the arguments over. True if any of their tensors is on a device, where all of them must then be; else the call is
    /// the CPU's, and of no further use here.
    bool place(const gyre_attention_args &args);

    /// Checks every argument, but not what lists on the device hold. Errors: those of check_attention(), and UNSUPPORTED for
    /// what no kernel on a device does.
    gyre_status check(bool need_data);

    // Of run_call() and tell_workspace_size(), whose memory is the device's.
    gyre_status prepare(gyre_context &context);
    size_t workspace_bytes(const gyre_context &) const {
        return key_angles.bytes() + value_angles.bytes() + split.bytes();
    }
    gyre_status run(gyre_context &context);

    gyre_attention_args args;

private:
    cuda::CallTensors tensors;
    cuda::Device device = -1; // -1: all tensors are empty
    AttentionCall call;
    const AttentionKernel *kernel = nullptr;
    cuda::KeyAngles key_angles, value_angles; // the latter off where the former are the same
    cuda::Split split;

    gyre_status refuse_unsupported() const;
    gyre_status check_reach() const;
    gyre_status fail_without_kernel(bool copyable) const;
    Heads pool(const Heads &keys) const;
    int64_t group() const;
    int64_t most_rows(int64_t rows, int64_t fold) const;
    int axes() const { return call.rope.on ? call.rope.axes : call.value_rope.axes; }
    const AttentionKernel *find_kernel(const gyre_context &context) const;
    gyre_status launch(gyre_context &context, const cuda::Scope &scope, cuda::DeviceAngles &rope,
                       cuda::DeviceAngles &value_rope, int64_t first, int64_t batches) const;
};

} // namespace gyre
