#include "cuda/linear/memory.h"

#include "core/kernel_call.h"
#include "core/workspace.h"

namespace gyre::cuda {
namespace {

constexpr int64_t vector = 4; // floats that kernels load at once

int64_t whole_vectors(int64_t count) { return ceil_div(count, vector) * vector; }

/// [entries, heads, tokens, row], and room for a chunk behind the last token.
LinearArray of_rows(int64_t entries, int64_t heads, int64_t tokens, int64_t row) {
    LinearArray a{{nullptr, 1, row, tokens * row, heads * tokens * row}};
    a.floats = entries * a.entry_stride + LinearMemory::chunk * row;
    return a;
}

/// [entries, heads, dim, tokens]
LinearArray of_columns(int64_t entries, int64_t heads, int64_t tokens, int64_t dim) {
    const int64_t column = whole_vectors(tokens);
    LinearArray a{{nullptr, column, 1, dim * column, heads * dim * column}};
    a.floats = entries * a.entry_stride + LinearMemory::chunk;
    return a;
}

/// [entries, heads, slots, dim, row]
LinearArray of_slots(int64_t entries, int64_t heads, int64_t slots, int64_t dim, int64_t row) {
    LinearArray a{{nullptr, row, dim * row, slots * dim * row, heads * slots * dim * row}};
    a.floats = entries * a.entry_stride;
    return a;
}

} // namespace

bool LinearMemory::prepare(const LinearCall &call, bool packed, int64_t count) {
    const AttentionCall &c = call.heads;
    const int64_t heads = c.q.heads, key_heads = c.k.heads, dim = c.q.dim;
    entries = count;
    const int64_t more = packed ? 2 * c.sequences : 0;
    slots = (packed ? c.k.seqlen / chunk : ceil_div(c.k.seqlen, chunk)) + more + 1;
    row_tiles = (packed ? c.q.seqlen / chunk : ceil_div(c.q.seqlen, chunk)) + more;
    value_stride = whole_vectors(c.v.dim);
    const bool rotated = c.rope.on;
    each(*this, [](LinearArray &a) { a = LinearArray(); });
    k_rows = of_rows(count, key_heads, c.k.seqlen, dim);
    if (rotated) k_rows_rotated = k_rows;
    if (call.causal) k = of_columns(count, key_heads, c.k.seqlen, dim);
    if (call.causal && rotated) k_rotated = k;
    q = of_columns(count, heads, c.q.seqlen, dim);
    if (rotated) q_rotated = q;
    if (rotated) q_rows = of_rows(count, heads, c.q.seqlen, dim);
    v = of_rows(count, key_heads, c.k.seqlen, value_stride);
    kv_chunks = kv_before = of_slots(count, key_heads, slots, dim, value_stride);
    k_chunks = k_before = of_slots(count, key_heads, slots, 1, dim);
    bool in_reach = true;
    each(*this, [&](const LinearArray &a) { in_reach = in_reach && a.floats < INT32_MAX; });
    return in_reach && row_tiles * chunk < INT32_MAX;
}

size_t LinearMemory::bytes() const {
    size_t sum = 0;
    each(*this, [&](const LinearArray &a) { sum += round_up(static_cast<size_t>(a.floats) * sizeof(float)); });
    return sum;
}

void LinearMemory::place(char *memory) {
    each(*this, [&](LinearArray &a) {
        a.data = reinterpret_cast<float *>(memory);
        memory += round_up(static_cast<size_t>(a.floats) * sizeof(float));
    });
}

} // namespace gyre::cuda
