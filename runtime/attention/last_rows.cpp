#include "attention/last_rows.h"

#include <cstdint>

namespace gyre {

void LastRows::prepare(const gyre_context &context, const AttentionCall &c, const AttentionKernel &kernel,
                       int64_t sharing) {
    const bool has_vectors = kernel.vector_bytes > 0 && !kernel.on_tiles && !kernel.has_terms();
    const bool is_plain = !kernel.is(trait::partial | trait::general | trait::dropout | trait::score);
    if (!is_x86 || !has_vectors || !is_plain || has_matrix_tiles(*context.best)) return;
    // Kernels round queries that are rotated to different types.
    if (c.rope.on || c.value_rope.on || c.k.dtype != c.q.dtype || sharing > most_last_rows) return;
    heads = sharing;
    dim = c.most_features();
    if (c.sequences == 0 || (!c.has_lengths() && last_tokens(kernel, dim, heads, c.sequence(0)) == 0)) return;
    const AttentionKernel *found = find_few_rows_kernel(context, c);
    if (!found || found->vector_bytes < kernel.vector_bytes) return;
    if (c.out.dtype != GYRE_F32 || c.sinks) {
        merge.kernel = find_merge_kernel(context, GYRE_F32, c.out.dtype);
        if (!merge.kernel || merge.kernel->most_tokens < most_last_rows || merge.kernel->most_heads < sharing) return;
    }
    few = found;
}

int64_t LastRows::tokens(const AttentionKernel &of_sequence, const Sequence &s) const {
    return few ? last_tokens(of_sequence, dim, heads, s) : 0;
}

size_t LastRows::scratch_bytes() const {
    if (!on()) return 0;
    const size_t rows = static_cast<size_t>(most_last_rows) * sizeof(float);
    const size_t of_results = merge.kernel ? round_up(rows * static_cast<size_t>(few->head_dim)) + round_up(rows) : 0;
    return of_results + (merge.kernel ? merge.scratch_bytes() : 0);
}

Results LastRows::results(const AttentionCall &c, const MergeTask::Rows &rows, char *scratch) const {
    if (!merge.kernel) return {c.out, c.lse};
    Results to{c.out, {}};
    to.out.dtype = GYRE_F32;
    to.out.head_stride = c.v.dim;
    to.out.token_stride = rows.heads * c.v.dim;
    to.out.batch_stride = 0;
    // Views count from a tensor's first row.
    const auto shifted = [](char *data, const auto &before) {
        return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(data) - static_cast<uintptr_t>(before));
    };
    to.out.data = nullptr;
    const int64_t float_bytes = sizeof(float);
    const int64_t first = rows.first_token * to.out.token_stride + rows.first_head * to.out.head_stride;
    to.out.data = shifted(scratch, first * float_bytes);
    char *const lse = scratch + round_up(static_cast<size_t>(most_last_rows * few->head_dim) * sizeof(float));
    to.lse.head_stride = rows.tokens;
    to.lse.data = reinterpret_cast<float *>(
        shifted(lse, (rows.first_token + rows.first_head * rows.tokens) * float_bytes));
    return to;
}

bool LastRows::finish(const AttentionCall &c, const MergeTask::Rows &rows, const HeadTerms &terms,
                      char *scratch) const {
    if (!merge.kernel) return true;
    MergeTask task = merge;
    task.parts = results(c, rows, scratch);
    task.merged = {c.out, c.lse};
    return task.run(rows, 1, scratch + scratch_bytes() - merge.scratch_bytes(), &terms);
}

} // namespace gyre
