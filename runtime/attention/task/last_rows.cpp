#include "attention/task/last_rows.h"

#include <algorithm>
#include <cstdint>

namespace gyre {
namespace {

constexpr int64_t most_last_rows = 4, most_last_rows_on_avx2 = 2;

int64_t lanes_of(const AttentionKernel &kernel) { return kernel.vector_bytes / static_cast<int64_t>(sizeof(float)); }

/// The fewest numbers of a token's keys with which `last` rows of so many are worth a call of another kernel. Two vectors of a row tile of pairs take
/// little more time than one.
int64_t least_numbers(const AttentionKernel &whole, int64_t rows, int64_t last) {
    if (!whole.has_bf16_dots()) {
        const bool is_stored_so = whole.dtype == GYRE_F32 && whole.vector_bytes >= avx512_bytes;
        return last * (is_stored_so ? 1100 : 2000);
    }
    const bool begins_row_tile = (rows - 1) % whole.row_tile < lanes_of(whole);
    return begins_row_tile ? last * 3000 : last == 1 ? 9000 : INT64_MAX;
}

/// The last tokens of a sequence, with so many heads that share keys of `dim` features, that a kernel for few rows takes in less time than `whole`, of
/// whose last vector they are all. bench/notes has the measurements.
int64_t last_tokens(const AttentionKernel &whole, int64_t dim, int64_t heads, const Sequence &s) {
    const int64_t lanes = lanes_of(whole), rows = s.q_len * heads;
    const int64_t tokens = ceil_div(rows % lanes, heads), last = tokens * heads;
    const bool on_avx2 = whole.vector_bytes < avx512_bytes;
    if (tokens == 0 || rows <= lanes || last > (on_avx2 ? most_last_rows_on_avx2 : most_last_rows)) return 0;
    const int64_t of_window = s.left >= 0 && s.right >= 0 ? s.left + s.right + 1 : s.keys_seen();
    return std::min(s.keys_seen(), of_window) * dim >= least_numbers(whole, rows, last) ? tokens : 0;
}

/// The address of a view's first number, if `data` is that of the one at `index`.
float *first_of(char *data, int64_t index) {
    const auto bytes = static_cast<uintptr_t>(index) * sizeof(float);
    return reinterpret_cast<float *>(reinterpret_cast<uintptr_t>(data) - bytes);
}

} // namespace

void LastRows::prepare(const gyre_context &context, const AttentionCall &c, const AttentionKernel &kernel,
                       int64_t sharing) {
    const bool has_vectors = kernel.vector_bytes >= avx2_bytes && !kernel.on_tiles && !kernel.has_terms();
    const bool is_plain = !kernel.is(trait::general | trait::dropout | trait::score);
    if (!is_x86 || !has_vectors || !is_plain || has_matrix_tiles(*context.best)) return;
    // Kernels round queries that are rotated to different types.
    if (c.rope.on || c.value_rope.on || c.k.dtype != c.q.dtype || sharing > most_last_rows) return;
    heads = sharing;
    dim = c.most_features();
    const bool are_alike = !c.has_lengths() && !c.key_ranges;
    if (are_alike && last_tokens(kernel, dim, heads, c.sequence(0)) == 0) return;
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

size_t LastRows::out_bytes() const {
    return round_up(static_cast<size_t>(most_last_rows * few->head_dim) * sizeof(float));
}

size_t LastRows::scratch_bytes() const {
    if (!on() || !merge.kernel) return 0;
    return out_bytes() + round_up(static_cast<size_t>(most_last_rows) * sizeof(float)) + merge.scratch_bytes();
}

Results LastRows::results(const AttentionCall &c, const MergeTask::Rows &rows, char *scratch) const {
    if (!merge.kernel) return {c.out, c.lse};
    Results to{c.out, {}};
    to.out.dtype = GYRE_F32;
    to.out.batch_stride = 0;
    to.out.token_stride = rows.heads * c.v.dim;
    to.out.head_stride = c.v.dim;
    to.lse.head_stride = rows.tokens;
    const int64_t row = rows.first_token * rows.heads + rows.first_head;
    to.out.data = reinterpret_cast<char *>(first_of(scratch, row * c.v.dim));
    to.lse.data = first_of(scratch + out_bytes(), rows.first_head * rows.tokens + rows.first_token);
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
