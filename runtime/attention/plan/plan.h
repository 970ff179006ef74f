/// A checked attention call with its kernel, its tables and its cut into tasks.
#pragma once
#include "attention/plan/sequence_order.h"
#include "attention/plan/split.h"
#include "attention/task/task.h"

namespace gyre {

struct Plan {
    gyre_attention_args args;
    bool need_data = true; // false: only sizes are asked for, lists of lengths are not read
    bool may_split = true; // false: tasks take all keys
    AttentionTask task;
    Split split;

    /// The kernels of task.call, which prepare() finds if they are not known.
    const SequenceKernels &find_kernels(const gyre_context &context);

    /// Everything but the above and task.call, which are given. Errors: UNSUPPORTED (no kernel), and those of score
    /// inputs and angles.
    gyre_status prepare(gyre_context &context);

    /// Counts the slabs of threads that can be busy at once, and before them the call's results and tables.
    size_t workspace_bytes(const gyre_context &context) const;

    /// The kernel that a call is said to have run: that of the sequence with the most queries, of those with pairs of bf16 numbers, which round
    /// most, if there are any.
    const AttentionKernel &said() const;

    /// Does all of it in that memory. Errors: INTERNAL.
    gyre_status run(gyre_context &context, char *memory);

private:
    SequenceOrder order;
    size_t slab_bytes = 0, table_bytes = 0, term_bytes = 0;
    int64_t tiles = 0; // tasks along the longest sequence

    int64_t tasks() const;
    int64_t fill_tasks() const;
    int64_t form_tasks() const;
    bool form_operands(gyre_context &context, char *slabs);
    bool run_tasks(gyre_context &context, char *slabs);
    bool merge_parts(gyre_context &context, char *slabs);
};

} // namespace gyre
