// Which rows take less time with keys and values where they are than with copies of them: limits as bench/notes has measured them. Bits are the same.
#include "attention/dispatch/dispatch.h"

namespace gyre {
namespace {

/// True if rows of f32 are as far apart as makes their lines share sets of L1: they push each other out before the last of them is read.
bool share_sets(const Heads &t) {
    constexpr int64_t bytes_of_sets = 4096;
    return t.token_stride * static_cast<int64_t>(sizeof(float)) % bytes_of_sets == 0;
}

/// True if copies take next to no time, and tables of lines to ask for take more.
bool are_small(int64_t dim, int64_t rows, int64_t keys) {
    constexpr int64_t small_head = 32, two_vectors = 32, few_keys = 64;
    return dim <= small_head && rows <= two_vectors && keys < few_keys;
}

} // namespace

bool are_rows_uncopied(const AttentionCall &c, const Sequence &s) {
    constexpr int64_t most_rows = 192;
    constexpr int64_t least_sharing_sets = 21, most_sharing_sets = 48, two_vectors = 32, least_keys_of_vectors = 128;
    const int64_t rows = c.rows(s.q_len);
    if (rows < least_many_rows || rows > most_rows || are_small(c.most_features(), rows, s.keys_shown)) return false;
    if (!share_sets(c.k) && !share_sets(c.v)) return true;
    if (rows < least_sharing_sets || rows > most_sharing_sets) return false;
    return rows < two_vectors || s.keys_shown >= least_keys_of_vectors;
}

} // namespace gyre
