/// The kernels that attention's backward pass consists of.
#pragma once
#include "attention/dispatch.h"
#include "core/argument_row.h"
#include "core/context.h"
#include "rotary/rotary_kernel.h"

namespace gyre {

/// Adds what a block of rows and a block of keys mean for each other's gradients; or what the rows' weights come to.
struct BlockKernel {
    const Kernel *kernel = nullptr;
    bool capped = false;
    bool general = false;       // with bias and dropout, capped or not
    int64_t rows = 0, keys = 0; // of a block
    int64_t tile = 0;           // rows, or keys, that the kernel counts in a dimension of their own
    int64_t key_lanes = 0;      // of a panel
    int64_t features = 0;       // a multiple of which heads are padded to
    size_t workspace = 0;       // bytes
    ArgumentPlaces places;      // of BackwardArguments
    bool totals = false;        // forms no gradients
};

/// A kernel without facts but its workspace.
struct SmallKernel {
    const Kernel *kernel = nullptr;
    size_t workspace = 0;
};

struct BackwardKernels {
    const BlockKernel *blocks = nullptr, *totals = nullptr; // no totals: there is no such kernel, or no call for it
    const SmallKernel *panels = nullptr, *delta = nullptr;
    const RotaryKernel *load[2] = {}, *store[2] = {}; // from the tensors' type to f32, and back; by pairing

    size_t workspace() const;
};

/// The best target's for a forward call. Errors: UNSUPPORTED.
gyre_status find_backward_kernels(const gyre_context &context, const AttentionCall &call, BackwardKernels *found);

/// True if the kernel of the forward call multiplies numbers as sums of shorter ones, and so has other scores than the backward
/// pass. Reads lists.
bool forward_splits_numbers(const gyre_context &context, const AttentionCall &call);

/// Whether the kernels of the forward call round rotated numbers to bf16: lse and the result are of these.
struct ForwardRounding {
    const AttentionCall *call = nullptr;
    const AttentionKernel *kernel = nullptr; // nullptr: nothing is rotated
    const AttentionKernel *few = nullptr;    // instead, of sequences with few rows a key head
    const AttentionKernel *narrow = nullptr; // instead, of those with more that fill no more than its row tile
    const AttentionKernel *whole = nullptr;  // instead, of those that kernels for many queries take (MixedPlan)

    bool of(const Sequence &s) const { return kernel && kernel_of(s).rounds_operands; }

private:
    const AttentionKernel &kernel_of(const Sequence &s) const {
        if (!kernel->is(trait::partial)) return *kernel;
        if (whole && are_whole_rows(*call, *kernel, *whole, s)) return *whole;
        const int64_t rows = s.q_len * (call->q.heads / call->k.heads);
        const AttentionKernel &tiled = tiled_kernel(*kernel, narrow, rows);
        return few && are_few_rows(*few, tiled, call->most_features(), rows, s.keys_seen()) ? *few : tiled;
    }
};
/// Reads lists.
ForwardRounding find_forward_rounding(const gyre_context &context, const AttentionCall &call);

} // namespace gyre
