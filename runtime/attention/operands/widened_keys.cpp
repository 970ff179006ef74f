#include "attention/operands/widened_keys.h"

#include "core/error.h"
#include "core/kernel_call.h"

#include <algorithm>
#include <cstring>

namespace gyre {
namespace {

constexpr int64_t stored_bytes = 2, element_bytes = 4;
constexpr int64_t rows_together = 128;

/// Nothing is rotated, so kernels of either pairing will do.
const RotaryKernel *find_copy(const gyre_context &context, gyre_dtype from) {
    const RotaryKernel *half = find_rotary_kernel(context, from, GYRE_F32, GYRE_HALF);
    return half ? half : find_rotary_kernel(context, from, GYRE_F32, GYRE_INTERLEAVED);
}

/// A head's rows of some keys that follow each other in memory.
struct StoredRows {
    TokenRun k, v;
    int64_t count;

    /// `left`: how many keys there are from `key` on.
    StoredRows(const AttentionCall &c, const Sequence &s, int64_t index, int64_t head, int64_t key, int64_t left)
        : k(rows(c, c.k, c.pages.k_page_stride, s, index, head, key)),
          v(rows(c, c.v, c.pages.v_page_stride, s, index, head, key)), count(std::min(left, rows_together)) {
        if (c.pages.entries) count = std::min(count, slots(c.pages) - key % slots(c.pages));
    }

private:
    static int64_t slots(const PageTable &pages) { return int64_t{1} << pages.bits; }

    static TokenRun rows(const AttentionCall &c, const Heads &t, int64_t page_stride, const Sequence &s, int64_t index,
                         int64_t head, int64_t key) {
        const PageTable &p = c.pages;
        Heads of_head = t;
        of_head.data = t.at(0, 0, head);
        if (!p.entries) return TokenRun(of_head, s.batch, s.k_first + key);
        of_head.batch_stride = page_stride;
        return TokenRun(of_head, p.entries[index * p.stride + (key >> p.bits)], key % slots(p));
    }
};

size_t bytes_of(int64_t rows, int64_t dim) { return round_up(static_cast<size_t>(rows * dim * element_bytes)); }

} // namespace

bool WidenedKeys::takes(const gyre_context &context, const AttentionCall &c, int64_t most) {
    return find_copy(context, c.k.dtype) && fits_kernel_index({{most, std::max(c.k.dim, c.v.dim)}});
}

gyre_status WidenedKeys::prepare(const gyre_context &context, const AttentionCall &c, gyre_dtype dtype, int64_t most) {
    if (c.k.dtype == dtype) return GYRE_OK;
    copy = find_copy(context, c.k.dtype);
    if (!copy)
        return refuse(GYRE_UNSUPPORTED, "k", "got %s with queries of %s, and no linked kernel of %s converts it",
                      dtype_name(c.k.dtype), dtype_name(c.q.dtype), context.best->name);
    if (!fits_kernel_index({{most, std::max(c.k.dim, c.v.dim)}}))
        return refuse(GYRE_UNSUPPORTED, "k",
                      "got %s with queries of %s, and one head's tokens reach over 2^31 elements",
                      dtype_name(c.k.dtype), dtype_name(c.q.dtype));
    most_keys = most;
    k_dim = c.k.dim;
    v_dim = c.v.dim;
    return GYRE_OK;
}

size_t WidenedKeys::bytes() const {
    if (!on()) return 0;
    return bytes_of(most_keys, k_dim) + bytes_of(most_keys, v_dim) + round_up(copy->workspace) +
           bytes_of(rows_together, std::max(k_dim, v_dim)) + (is_x86 ? bytes_of(query_rows, k_dim) : 0);
}

char *WidenedKeys::first_value(char *memory) const { return memory + bytes_of(most_keys, k_dim); }

char *WidenedKeys::scratch(char *memory) const { return first_value(memory) + bytes_of(most_keys, v_dim); }

/// Rows that lie apart are put together first: the kernel takes 13 ns for each that is not, and this 4 (64 features).
bool WidenedKeys::convert(TokenRun from, char *to, int64_t tokens, int64_t dim, char *memory) const {
    char *const packed = scratch(memory) + round_up(copy->workspace);
    const int64_t bytes = dim * stored_bytes;
    if (from.token_stride != dim) {
        for (int64_t row = 0; row < tokens; row++)
            std::memcpy(packed + row * bytes, from.data + row * from.token_stride * stored_bytes,
                        static_cast<size_t>(bytes));
        from.data = packed;
        from.token_stride = dim;
    }
    TokenRun rows = from;
    rows.data = to;
    const HeadRotation rotation{copy, 0, 0, 1, false};
    return rotation.run(from, rows, tokens, 1, dim, nullptr, scratch(memory));
}

bool WidenedKeys::form(const AttentionCall &c, const Sequence &s, int64_t index, int64_t head, int64_t first,
                       int64_t count, char *memory) const {
    for (int64_t done = 0; done < count;) {
        const StoredRows rows(c, s, index, head, first + done, count - done);
        if (!convert(rows.k, memory + done * k_dim * element_bytes, rows.count, k_dim, memory) ||
            !convert(rows.v, first_value(memory) + done * v_dim * element_bytes, rows.count, v_dim, memory))
            return false;
        done += rows.count;
    }
    return true;
}

bool WidenedKeys::form_queries(const AttentionCall &c, const Sequence &s, int64_t token, int64_t tokens, int64_t head,
                               int64_t heads, char *memory, Buffer *queries) const {
    char *const first = memory + bytes() - bytes_of(query_rows, k_dim);
    const HeadRotation rotation{copy, 0, 0, 1, false};
    for (int64_t i = 0; i < tokens; i++) {
        TokenRun from(c.q, s.batch, s.q_first + token + i), to = from;
        from.data = c.q.at(s.batch, s.q_first + token + i, head);
        to.data = first + i * heads * k_dim * element_bytes;
        to.token_stride = heads * k_dim;
        to.head_stride = k_dim;
        if (!rotation.run(from, to, 1, heads, k_dim, nullptr, scratch(memory))) return false;
    }
    queries->describe(first, halide_type(GYRE_F32), {{k_dim, 1}, {heads, k_dim}, {tokens, heads * k_dim}});
    return true;
}

KeyRows WidenedKeys::keys(int64_t count, char *memory) const {
    return {memory, halide_type(GYRE_F32), k_dim, k_dim, count};
}

KeyRows WidenedKeys::values(int64_t count, char *memory) const {
    return {first_value(memory), halide_type(GYRE_F32), v_dim, v_dim, count};
}

} // namespace gyre
