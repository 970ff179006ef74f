/// Attention of few queries to many keys (decoding) on a device: keys are cut into parts, so that all multiprocessors have work, and
/// the parts' results are merged.
///
/// Rows of a block of threads are queries times the heads that share a key head: keys and values are read once for all of them.
#pragma once
#include "attention/dispatch/kernels.h"
#include "cuda/attention/merge.h"

namespace gyre::cuda {

class Split {
public:
    static constexpr int64_t most_parts = 256, least_part = 64; // keys

    /// Chooses the parts for a kernel that writes parts' results; it is off for others. `rows`: queries times heads that a launch goes through. How many
    /// parts depends on `device`; -1: on the largest one.
    gyre_status prepare(const gyre_context &context, const AttentionCall &call, const AttentionKernel &kernel,
                        int64_t rows, Device device);

    bool on() const { return task.kernel != nullptr; }
    int64_t parts() const { return on() ? count : 1; }
    /// Batch entries that one launch may take.
    int64_t most_batches() const;
    size_t bytes() const { return out_bytes + lse_bytes; }
    void place(char *memory);

    /// Where a launch of `batches` entries writes: [part, entry, token, head, feature] and [part, entry, head, token]; rows begin at
    /// what is theirs.
    void view(int64_t rows, int64_t batches, Buffer *out, Buffer *lse) const;

    /// Queues the merging of what a launch for batch entries from `first` on wrote.
    gyre_status merge(gyre_context &context, const Scope &scope, int64_t first, int64_t batches) const;

private:
    MergeTask task; // of all entries
    int64_t count = 1, key_heads = 0;
    const float *sinks = nullptr; // [query heads], which join the sums when parts are merged
    size_t out_bytes = 0, lse_bytes = 0;
};

} // namespace gyre::cuda
