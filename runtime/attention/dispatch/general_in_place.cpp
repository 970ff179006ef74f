// Which rows of f32 take less time in large row tiles beside keys that are read where they are: on AVX-512 as scalars beside keys in columns, on AVX2 along
// vectors. Limits are as bench/notes has measured them.
#include "attention/call/key_parts.h"
#include "attention/dispatch/dispatch.h"

#include <algorithm>

namespace gyre {
namespace {

constexpr int64_t few_rows = 12; // which a row tile holds

/// True if so many rows of a call with options leave the last vectors of other kernels' row tiles almost empty.
bool are_rows_of_options(int64_t dim, int64_t rows) {
    constexpr int64_t small_head = 48;
    if (rows >= 17 && rows <= 24) return true;
    if (rows >= 33 && rows <= (dim <= small_head ? 36 : 40)) return true;
    return dim > small_head && rows >= 49 && rows <= 52;
}

bool are_along_vectors(const AttentionKernel &kernel) { return kernel.vector_bytes < avx512_bytes; }

/// Fewer rows leave vectors empty, and of more a copy of keys and values costs little.
bool are_rows_along_vectors(const AttentionCall &c, int64_t rows) {
    constexpr int64_t least_rows = 11, most_rows = 96;
    return c.general() && rows >= least_rows && rows <= most_rows;
}

/// From memory long keys take longer, since each chunk of features reads all lines of a block again, and so do few rows, because none asks for lines. More
/// than two row tiles gain on a block of keys: on several they take longer where rows of keys lie far from each other.
bool are_read_quickly(const AttentionCall &c, int64_t rows, int64_t keys) {
    constexpr int64_t most_keys = 1024, medium_head = 96, few_numbers = 144 * 1024;
    constexpr int64_t two_vectors = 16, two_tiles = 48, block = 128;
    const int64_t features = c.most_features();
    if (rows > two_tiles) return features <= medium_head && keys <= block;
    const bool from_memory = features <= medium_head && rows > two_vectors;
    return keys <= most_keys && (from_memory || c.k.heads * keys * features <= few_numbers);
}

/// True if tasks of so many rows may gain on some number of keys.
bool may_gain(const AttentionKernel &kernel, const AttentionCall &c, int64_t rows) {
    if (are_along_vectors(kernel)) return are_rows_along_vectors(c, rows);
    if (rows >= 10 && rows <= few_rows) return true;
    return c.general() && (rows == 8 || are_rows_of_options(c.most_features(), rows));
}

/// True if tasks of so many rows of a sequence gain.
bool gain(const AttentionKernel &kernel, const AttentionCall &c, const Sequence &s, int64_t rows) {
    // Few rows take longer where many keys come from memory. Few queries may have parts of keys.
    constexpr int64_t least_of_few_rows = 48, most_of_few_rows = 128;
    constexpr int64_t least_keys = 32, most_keys = 1024, many_rows = 41, most_of_many_rows = 512;
    constexpr int64_t keys_of_one_part = key_parts::least_halved - 1;
    const int64_t keys = s.keys_shown;
    if (!may_gain(kernel, c, rows)) return false;
    if (are_along_vectors(kernel))
        return are_read_quickly(c, rows, keys) && (s.q_len > most_few_queries || keys <= keys_of_one_part);
    if (rows <= few_rows) return keys >= least_of_few_rows && keys <= most_of_few_rows;
    const int64_t most = rows < many_rows ? most_keys : most_of_many_rows;
    return keys >= least_keys && keys <= (s.q_len <= most_few_queries ? std::min(most, keys_of_one_part) : most);
}

/// Calls `are_right` with how many rows a task of a sequence may have. With masks of their own, heads have tasks of their own (choose_task_heads()): always
/// those of many queries, and those of few queries unless these decode, which depends on the other sequences. Bits must not, so that both numbers must be right.
template <typename Condition>
bool are_right_for_tasks(const AttentionCall &c, int64_t queries, const Condition &are_right) {
    const bool has_own_masks = c.mask.data && c.mask.strides[1] != 0;
    if (!has_own_masks) return are_right(c.rows(queries));
    return are_right(queries) && (queries > most_few_queries || are_right(c.rows(queries)));
}

} // namespace

bool may_gain_in_place(const AttentionKernel &kernel, const AttentionCall &c, int64_t queries) {
    return are_right_for_tasks(c, queries, [&](int64_t rows) { return may_gain(kernel, c, rows); });
}

bool gains_in_place(const AttentionKernel &kernel, const AttentionCall &c, const Sequence &s) {
    return are_right_for_tasks(c, s.q_len, [&](int64_t rows) { return gain(kernel, c, s, rows); });
}

} // namespace gyre
