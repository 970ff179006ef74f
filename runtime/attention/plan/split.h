/// Attention of few queries to many keys (decoding): each sequence's keys are cut into parts, which threads take one by
/// one, and whose results are merged. A sequence of one part writes f32 results where they are to be.
#pragma once
#include "attention/merge/task.h"
#include "attention/task/task.h"

namespace gyre {

/// True if every sequence has few queries, or, where the lists of lengths are not known (`need_data` false), may have.
bool has_few_queries(const AttentionCall &call, bool need_data);

/// Says where the parts' results are, and merges them.
class Split {
public:
    /// Prepares a task whose kernels, which are chosen, write parts' results: turns task->call's into these, and finds what merges them.
    void prepare(const gyre_context &context, AttentionTask *task);

    bool on() const { return merge.kernel != nullptr; }
    int64_t parts() const { return on() ? most_parts : 1; } // of the longest sequence, at most
    size_t bytes() const { return out_bytes + lse_bytes; }  // of all parts' results
    size_t scratch_bytes() const { return on() && !all_whole ? merge.scratch_bytes() : 0; }
    void place(char *memory, AttentionTask *task);

    /// Merges in independent tasks.
    int64_t tasks(const AttentionTask &task) const;
    bool run(const AttentionTask &task, int64_t index, char *scratch) const;

private:
    MergeTask merge;
    int64_t most_parts = 1;
    int64_t merge_heads = 1; // of a task that merges
    bool all_whole = false;  // no sequence has parts to merge
    size_t out_bytes = 0, lse_bytes = 0;

    int64_t head_runs() const;
    /// The number of heads that the kernel takes at once: its index must reach the last one's result.
    int64_t most_merged_heads() const;
};

} // namespace gyre
