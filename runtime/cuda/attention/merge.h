/// Merging on a CUDA device, in one launch: of parts that gyre_attention_merge() is given, and of those that a call of attention
/// cut its keys into.
#pragma once
#include "attention/call/tensors.h"
#include "attention/merge/task.h"
#include "cuda/driver/call.h"
#include "cuda/driver/launch.h"

namespace gyre::cuda {

/// Queues the merging of the first `count` parts of all rows. `sinks`: [head], on the device, which join the sums; nullptr: none.
gyre_status merge(gyre_context &context, const Scope &scope, const MergeTask &task, int64_t count,
                  const float *sinks = nullptr);

/// gyre_attention_merge() with tensors on a device.
class MergeOnDevice : public Call<gyre_attention_merge_args> {
public:
    explicit MergeOnDevice(const gyre_attention_merge_args &args);

    gyre_status check(bool need_data) override;
    gyre_status prepare(gyre_context &context) override;
    size_t workspace_bytes(const gyre_context &) const override { return 0; }
    gyre_status run(gyre_context &context) override;

private:
    gyre_tensor last_out, last_lse; // of the last part
    MergeTask task;
};

} // namespace gyre::cuda
