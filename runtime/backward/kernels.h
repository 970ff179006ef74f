/// The kernels that attention's backward pass consists of.
#pragma once
#include "attention/dispatch/sequence_kernels.h"
#include "backward/memory.h"
#include "core/argument_row.h"
#include "core/context.h"
#include "rotary/rotary_kernel.h"

#include <numeric>

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
    bool pairs = false;         // multiplies pairs of bf16 numbers

    /// Rows, or keys, of which it takes as many as hold all that there are. Others reach no result; queries of a whole block are read.
    int64_t row_unit() const { return tile; }
    int64_t key_unit() const { return std::lcm(tile, key_lanes); }
    int64_t query_unit() const { return pairs ? tile : rows; }
    int64_t panels(int64_t keys) const { return ceil_div(pairs ? round_to(keys, key_unit()) : keys, key_lanes); }
};

/// A kernel without facts but its workspace.
struct SmallKernel {
    const Kernel *kernel = nullptr;
    size_t workspace = 0;
};

struct BackwardKernels {
    const BlockKernel *blocks = nullptr;
    const BlockKernel *totals = nullptr; // nullptr: there is no such kernel, or no call for it
    const BlockKernel *pairs = nullptr; // multiplies what the forward pass has not rounded otherwise; nullptr: as above
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
    const AttentionCall *call = nullptr; // nullptr: nothing is rotated, or no kernel is linked
    SequenceKernels kernels;

    bool of(const Sequence &s) const { return call && kernels.of(*call, s).rounds_operands; }
};
/// Reads lists.
ForwardRounding find_forward_rounding(const gyre_context &context, const AttentionCall &call);

} // namespace gyre
