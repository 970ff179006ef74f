/// The last rows of a sequence that leave most of a vector empty: a kernel for few rows takes them.
#pragma once
#include "attention/dispatch/dispatch.h"
#include "attention/merge/task.h"

namespace gyre {

/// Says which tokens these are, and where their results are. On x86 alone.
class LastRows {
public:
    /// Finds the kernels, unless `kernel`, which serves the call's sequences, has another use for a vector's empty lanes. `heads`: that share keys.
    void prepare(const gyre_context &context, const AttentionCall &call, const AttentionKernel &kernel, int64_t heads);

    bool on() const { return is_x86 && few != nullptr; }
    const AttentionKernel &kernel() const { return *few; }
    /// The last tokens of a sequence that `kernel` would take. Threads do not change them.
    int64_t tokens(const AttentionKernel &of_sequence, const Sequence &sequence) const;
    /// Scratch memory of a task.
    size_t scratch_bytes() const;

    /// Where the kernel writes a task's rows, the first of which is that of this token and head. These are merged where the call's are not f32, or sinks
    /// join their sums.
    Results results(const AttentionCall &call, const MergeTask::Rows &rows, char *scratch) const;
    /// Writes what the call is to have of them. False: the kernel failed.
    bool finish(const AttentionCall &call, const MergeTask::Rows &rows, const HeadTerms &terms, char *scratch) const;

private:
    const AttentionKernel *few = nullptr;
    MergeTask merge; // without a kernel: results are what the call is to have
    int64_t heads = 1, dim = 0;

    size_t out_bytes() const;
};

} // namespace gyre
