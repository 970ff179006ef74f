/// gyre_attention() with tensors on a CUDA device: one launch, before which others write queries, keys and values that are rotated in the
/// call, or keys and values that are not aligned, and after which another merges parts of the keys.
#pragma once
#include "attention/call/tensors.h"
#include "attention/dispatch/kernels.h"
#include "cuda/attention/score_function.h"
#include "cuda/attention/split.h"
#include "cuda/driver/call.h"
#include "cuda/rows/dense.h"

namespace gyre::cuda {

class AttentionOnDevice : public Call<gyre_attention_args> {
public:
    explicit AttentionOnDevice(const gyre_attention_args &args) : Call(args) {}

    gyre_status check(bool need_data) override;
    gyre_status prepare(gyre_context &context) override;
    size_t workspace_bytes(const gyre_context &) const override {
        return keys.bytes() + values.bytes() + queries.bytes() + results.bytes() + split.bytes();
    }
    gyre_status run(gyre_context &context) override;

private:
    AttentionCall call;
    const AttentionKernel *kernel = nullptr;
    AdoptedInputs score_inputs;
    ScoreViews score_views;
    bool needs_data = false;
    DenseRows keys, values;                // that kernels cannot read where they are; call.k and call.v then are these
    DenseRows queries;                     // rotated, if not by the kernel: call.q then, and call.rope is off
    PaddedResults results;                 // of more features than the call's: call.out then
    Rotation rotated_keys, rotated_values; // before the kernel
    bool in_pages = false;                 // kernels read keys and values in pages
    Split split;

    gyre_status refuse_unsupported() const;
    gyre_status check_reach() const;
    gyre_status fail_without_kernel(const gyre_context &context) const;
    gyre_status choose_kernel(const gyre_context &context);
    gyre_status prepare_rows(const gyre_context &context);
    gyre_status prepare_queries(const gyre_context &context);
    gyre_status prepare_results(const gyre_context &context);
    gyre_status prepare_pages(const gyre_context &context);
    bool has_entries_of_keys() const;
    bool gathers_pages(const gyre_context &context) const;
    Heads pool(const Heads &keys) const;
    int64_t group() const;
    int64_t most_rows(int64_t rows, int64_t fold) const;
    int axes() const { return call.rope.on ? call.rope.axes : call.value_rope.axes; }
    bool is_for_device(const Kernel &kernel_of_target) const;
    const AttentionKernel *find_kernel(const gyre_context &context, bool padded) const;
    gyre_status launch(gyre_context &context, const Scope &scope, DeviceAngles &rope, DeviceAngles &value_rope,
                       int64_t first, int64_t batches) const;
};

} // namespace gyre::cuda
