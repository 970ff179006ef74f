/// Attention of few queries to many keys (decoding): each sequence's keys are cut into parts, which threads take one by
/// one, and whose results are merged.
#pragma once
#include "attention/merge_task.h"
#include "attention/task.h"

namespace gyre {

/// At most so many query tokens of a sequence; with more, tasks along the queries do as well and need no merging.
constexpr int64_t most_split_tokens = 16;

/// Where the parts' results are, and how they are merged.
class Split {
public:
    /// True if the call is split: it has few queries, and there are kernels for it, which are then chosen. Where the
    /// lists of lengths are not known (`need_data` false), true if it may be. Turns task->call's results into parts'.
    bool prepare(const gyre_context &context, bool need_data, AttentionTask *task);

    bool on() const { return merge.kernel != nullptr; }
    int64_t parts() const { return on() ? most_parts : 1; } // of the longest sequence, at most
    size_t bytes() const { return out_bytes + lse_bytes; }  // of all parts' results
    size_t scratch_bytes() const { return on() ? merge.scratch_bytes() : 0; }
    void place(char *memory, AttentionTask *task);

    /// Merges in independent tasks.
    int64_t tasks(const AttentionTask &task) const;
    bool run(const AttentionTask &task, int64_t index, char *scratch) const;

private:
    MergeTask merge;
    int64_t most_parts = 1;
    size_t out_bytes = 0, lse_bytes = 0;

    int64_t head_runs() const;
};

} // namespace gyre
