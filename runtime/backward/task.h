/// One task of attention's backward pass: the query heads of one sequence that share a key head, all rows and all keys; or of
/// several, one after the other, whose scores share elements of a bias with a gradient.
///
///     rows of q and do, rotated, in f32; delta and lse of each; perhaps normalised (runner_totals.cpp)
///     for every block of keys:   rows and panels of k and v, rotated, in f32
///         for every block of rows that sees some of them:   dq, dk and dv get their shares
///         dk and dv are rotated back and stored
///     dq is rotated back and stored
///
/// The order of all sums is that of tokens and heads, whoever runs the task: results are the same bits with any number of
/// threads.
#pragma once
#include "attention/operands/angle_tables.h"
#include "backward/call.h"
#include "backward/kernels.h"
#include "backward/memory.h"

namespace gyre {

struct BackwardTask {
    BackwardCall call;
    BackwardKernels kernels;
    AngleTables angles;
    ForwardRounding rounding; // of what is rotated
    bool normalizes = false;  // rows of large scores, by the kernel of totals: the forward pass had others

    /// The kernel of a sequence's blocks: of pairs, unless that rounds rotated numbers that the forward pass has not rounded, whose lse
    /// is of others then.
    const BlockKernel &blocks_of(const Sequence &s) const;

    /// The kernel by whose name the call goes: the one of pairs if a sequence takes that.
    const BlockKernel &selected() const;

    /// The sizes of the task's memory with this kernel.
    BackwardSizes sizes(const BlockKernel &blocks) const;

    /// Bytes of the task's memory with any of the kernels, once these are known.
    size_t bytes() const;

    /// How many tasks there are, once the call is known.
    int64_t count() const;

    /// Makes the bias's gradient 0, before any task runs.
    void clear_bias_gradient() const;

    /// False: a kernel failed.
    bool run(int64_t task, char *memory) const;

private:
    /// Sequences, and key heads, that are one task.
    int64_t sequences_together() const;
    int64_t heads_together() const;
};

} // namespace gyre
