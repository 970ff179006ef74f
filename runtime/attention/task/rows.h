/// Where all rows are that one call of a kernel reads and writes.
#pragma once
#include "attention/operands/views.h"
#include "attention/task/extent.h"
#include "core/argument_tables.h"

namespace gyre {

/// Queries and results, and how they are rotated.
struct TaskRows {
    Buffer q, out, lse;

    TaskRows(const AttentionTask &task, const TaskExtent &x, const Results &results);
    void add_to(KernelArguments<AttentionArguments> *arguments);

private:
    AngleViews q_angle, o_angle;
    RotatedPairs q_pairs, o_pairs;
};

/// Keys and values: where the call has them, as operands that were formed, or widened in memory of the task.
class TaskKeys {
public:
    TaskKeys(const AttentionTask &task, const AttentionKernel &of_rows, const TaskExtent &x, char *widened);
    void add_to(KernelArguments<AttentionArguments> *arguments);

private:
    const bool formed;
    const int64_t slot; // of operands that are formed
    KeyRows k, v;
    KeysAndValues both;
    Buffer squares;
    const int32_t key_heads, k_head_stride, v_head_stride;
};

} // namespace gyre
