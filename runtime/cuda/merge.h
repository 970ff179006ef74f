/// Merging on a CUDA device, in one launch: of parts that gyre_attention_merge() is given, and of those that a call of attention
/// cut its keys into.
#pragma once
#include "attention/merge_task.h"
#include "cuda/launch.h"
#include "cuda/tensors.h"

namespace gyre {
namespace cuda {

/// Queues the merging of the first `count` parts of all rows.
gyre_status merge(gyre_context &context, const Scope &scope, const MergeTask &task, int64_t count);

} // namespace cuda

/// gyre_attention_merge() with tensors on a device.
class MergeOnDevice {
public:
    MergeOnDevice() = default;
    MergeOnDevice(const MergeOnDevice &) = delete; // it points into itself
    MergeOnDevice &operator=(const MergeOnDevice &) = delete;

    /// Takes the arguments over. True if any of their tensors is on a device, where all of them must then be; else the call is
    /// the CPU's, and of no further use here.
    bool place(const gyre_attention_merge_args &given);

    /// Errors: those of check_merge(), and UNSUPPORTED for what no kernel on a device does.
    gyre_status check(bool need_data);

    // Of run_call_on_device() and tell_workspace_size().
    gyre_status prepare(gyre_context &context);
    size_t workspace_bytes(const gyre_context &) const { return 0; }
    gyre_status run(gyre_context &context) const;

private:
    gyre_attention_merge_args args;
    gyre_tensor last_out, last_lse; // of the last part
    cuda::CallTensors tensors;
    cuda::Device device = -1; // -1: all tensors are empty
    MergeTask task;
};

} // namespace gyre
