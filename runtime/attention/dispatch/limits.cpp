// Which of two kernels takes less time for a sequence: limits of rows and keys, as bench/notes has measured them.
#include "attention/call/key_parts.h"
#include "attention/dispatch/dispatch.h"

#include <algorithm>

namespace gyre {
namespace {

constexpr int64_t no_rows = INT64_MAX;

/// Tasks of pairs have more to do before the first key, and read keys and values quicker from memory. Tiles of four rows, of 256 features, have more
/// to do than others.
bool are_few_rows_beside_pairs(int64_t half_tile, int64_t rows, int64_t keys) {
    constexpr int64_t keys_in_caches = 1024, narrow_half = 2;
    const int64_t few_scores = half_tile == narrow_half ? 512 : 256;
    return rows < half_tile || (rows == half_tile && keys < keys_in_caches) || rows * keys <= few_scores;
}

/// Narrow tiles of which a row stays empty gain by keys that the others share, if there are enough of them. Those of f32 gain by whole ones only
/// then, and so do those of pairs, which otherwise gain where keys come from memory.
bool are_few_rows_beside_narrow(const AttentionKernel &narrow, int64_t rows, int64_t keys) {
    constexpr int64_t least_keys = 64, least_keys_of_pairs = 256, keys_in_caches = 1024;
    if (rows <= narrow.row_tile / 2) return true;
    const bool is_whole = rows == narrow.row_tile;
    if (narrow.has_bf16_dots()) return keys < (is_whole ? least_keys_of_pairs : keys_in_caches);
    return (!is_whole || narrow.dtype == GYRE_F32) && keys < least_keys;
}

/// f16 kernels of 8 rows of 64 features transpose a step of 32 keys, however few there are.
bool are_few_scores_of_transposed(const AttentionKernel &other, int64_t rows, int64_t keys) {
    constexpr int64_t row_tile = 8, head_dim = 64, few_scores = 128;
    if (other.dtype != GYRE_F16 || other.vector_bytes < avx512_bytes || other.on_tiles) return false;
    return other.row_tile == row_tile && other.head_dim == head_dim && rows <= row_tile && rows * keys <= few_scores;
}

constexpr int64_t fewest_whole_rows = 7; // of all limits below, without dropout
constexpr int64_t keys_of_window = 128;  // too few to ask for the next ones

/// Padded kernels of AVX-512: others read whole row tiles of 8 rows quicker where keys come from caches.
bool are_few_rows_of_padded(gyre_dtype dtype, int64_t dim, int64_t rows, int64_t keys) {
    constexpr int64_t row_tile = 8, medium_head = 64, keys_in_caches = 4096;
    if (dtype == GYRE_F32)
        return rows <= 128 && (dim > medium_head || rows % (2 * row_tile) != 0 || keys <= keys_of_window);
    return rows <= 12 && (rows != row_tile || keys >= keys_in_caches);
}

/// The fewest rows of kernels that are made for many rows of few queries.
int64_t least_rows(const AttentionKernel &many) {
    constexpr int64_t small_head = 64;
    const bool is_small = many.head_dim <= small_head;
    return many.dtype == GYRE_F32 ? (is_small ? 13 : least_many_rows) : is_small ? 9 : 25;
}

/// Few queries of padded kernels in f32 read all keys once for each row, or copy them. AVX2 has row tiles of one vector for 8 rows.
bool are_plain_rows_on_avx2(const AttentionKernel &few, int64_t dim, int64_t rows) {
    constexpr int64_t small_head = 32, head_of_64 = 64, medium_head = 96, large_head = 128, vector = 8;
    if (!few.padded) return rows >= (few.head_dim <= head_of_64 ? 12 : 16);
    return rows >= (dim <= medium_head ? 14 : 16) || (rows == vector && dim > small_head && dim <= large_head);
}

/// True if so many rows take less time in kernels that other calls take, too.
bool are_plain_rows(const AttentionKernel &plain, const AttentionKernel &few, int64_t dim, int64_t rows, int64_t keys) {
    constexpr int64_t small_head = 32, medium_head = 64, large_head = 128, keys_in_caches = 512, few_keys = 256;
    if (plain.vector_bytes < avx512_bytes) return are_plain_rows_on_avx2(few, dim, rows);
    if (rows >= least_many_rows) return true;
    if (few.dtype != GYRE_F32 || !few.padded || plain.on_tiles) return false;
    if (dim <= medium_head) return rows >= (dim <= small_head ? 10 : 12);
    if (dim <= large_head) return keys <= keys_in_caches && rows >= 14;
    // Others copy keys, and more keys are read in place in row tiles of 8 rows.
    const bool are_next_to_none = dim > 192 && keys < 32;
    return plain.is(trait::many_rows) && rows >= 15 && keys < few_keys && !are_next_to_none;
}

/// Padded kernels of AVX2: a row tile takes as long for a row as for a vector of 8, and for a second vector less than for the first. In f32 few rows of medium
/// heads gain where all `keys`, in numbers, and their values come from the caches.
bool are_whole_rows_of_padded_on_avx2(gyre_dtype dtype, int64_t dim, int64_t rows, int64_t keys) {
    constexpr int64_t small_head = 32, large_head = 128, vector = 8, keys_in_caches = 400 * 1024;
    if (dtype == GYRE_BF16) return rows >= vector - 1;
    if (rows >= 14) return true;
    if (dtype == GYRE_F32 && dim > small_head && (dim > large_head || keys > keys_in_caches)) return false;
    return rows == vector || rows >= 12;
}

/// True if so many rows of a call with options take less time with rows along vectors than with keys along them. `keys`: of all key heads, in numbers.
bool are_whole_rows_of_options(const AttentionKernel &decoding, const AttentionKernel &whole, int64_t dim, int64_t rows,
                               int64_t keys) {
    constexpr int64_t small_head = 32, large_head = 128;
    const bool on_avx2 = decoding.vector_bytes < avx512_bytes;
    if (decoding.padded && on_avx2) return are_whole_rows_of_padded_on_avx2(decoding.dtype, dim, rows, keys);
    if (decoding.padded) return rows >= (dim <= small_head ? 8 : 14);
    if (decoding.head_dim > large_head && on_avx2) return false;
    const bool is_slow = decoding.dtype != GYRE_F16 && !whole.has_bf16_dots() && !whole.on_tiles;
    return rows >= (is_slow && decoding.head_dim >= large_head ? 28 : 14);
}

/// The fewest rows without options, in 16 bits, that take less time so than in row tiles of 8. f32 has kernels of many rows that write parts.
int64_t least_whole_rows(const AttentionKernel &decoding, const AttentionKernel &whole, int64_t dim, int64_t keys) {
    constexpr int64_t few_keys = 64, medium_head = 64, keys_in_caches = 512;
    if (decoding.dtype == GYRE_F32 || decoding.on_tiles || whole.on_tiles) return no_rows;
    if (decoding.vector_bytes < avx512_bytes) return 9;
    if (decoding.padded && whole.has_bf16_dots() && dim <= medium_head) return 9;
    if (decoding.padded) return whole.has_bf16_dots() && keys <= keys_in_caches ? 10 : 12;
    return keys <= few_keys ? 14 : decoding.dtype == GYRE_BF16 ? 28 : no_rows;
}

/// With dropout, tasks of kernels for many queries have one head each and take as long for one query as for 16. For matrix tiles this is an
/// estimate.
bool drops_in_whole_rows(const AttentionKernel &whole, const Sequence &s) {
    constexpr int64_t most_on_tiles = 4, most_of_few_keys = 6, few_keys = 16, most_of_one_part = 12;
    if (whole.on_tiles) return s.q_len > most_on_tiles;
    return s.keys_shown <= key_parts::least &&
           s.q_len > (s.keys_shown < few_keys ? most_of_few_keys : most_of_one_part);
}

/// The most keys of sequences whose tasks are enough for many threads without parts of keys: for each of a key head's tasks what makes one part
/// (AttentionTask::part_keys), or little where key heads are many. Bits must not depend on how many threads there are, nor on other sequences.
int64_t most_keys_of_whole_rows(int64_t key_heads, int64_t tasks_of_a_head) {
    constexpr int64_t keys_of_a_head = 256;
    if (key_heads * tasks_of_a_head == 1) return key_parts::least_halved - 1;
    return std::max(key_parts::least, keys_of_a_head * key_heads) * tasks_of_a_head;
}

/// True if f32 rows gain by row tiles of AVX-512 that they do not fill: these read a key once for all rows. Where keys of several heads lie side by side,
/// 4096 bytes apart, what each row reads again comes from L2.
bool gain_in_tiles_of_floats(const AttentionKernel &tiled, int64_t rows, int64_t keys) {
    constexpr int64_t few_keys = 64, some_keys = 256, narrow_tile = 4;
    if (tiled.dtype != GYRE_F32 || tiled.vector_bytes < avx512_bytes || tiled.padded) return false;
    if (tiled.row_tile == narrow_tile) return rows == 2 && keys >= few_keys;
    return (rows == 6 && keys >= few_keys) || ((rows == 5 || (rows >= 10 && rows <= 12)) && keys >= some_keys);
}

/// From so many keys a row on, f32 and f16 numbers are multiplied on tiles, as sums of three and two bf16 numbers, in less time than in vectors:
/// bench/notes has the measurements.
constexpr int64_t least_keys_in_terms(gyre_dtype dtype) { return dtype == GYRE_F32 ? 384 : 32; }

} // namespace

bool are_few_rows(const AttentionKernel &few, const AttentionKernel &other, int64_t dim, int64_t rows, int64_t keys) {
    constexpr int64_t small_head = 32, large_head = 128, keys_for_tiles = 128, narrow_tile = 4;
    if (other.is(trait::narrow)) return are_few_rows_beside_narrow(other, rows, keys);
    if (other.has_bf16_dots()) return are_few_rows_beside_pairs(other.row_tile / 2, rows, keys);
    if (gain_in_tiles_of_floats(other, rows, keys)) return false;
    const int64_t most = other.on_tiles && keys >= keys_for_tiles ? 3 : 4;
    if (rows <= std::min(most, other.row_tile / 2) || are_few_scores_of_transposed(other, rows, keys)) return true;
    if (few.padded && other.padded && few.vector_bytes >= avx512_bytes && dim > small_head && !other.on_tiles)
        return are_few_rows_of_padded(few.dtype, dim, rows, keys);
    if (few.dtype != GYRE_F32 || few.vector_bytes < avx2_bytes || other.row_tile <= narrow_tile) return false;
    const bool has_avx512 = few.vector_bytes >= avx512_bytes;
    const bool is_almost_whole = !few.padded && rows % other.row_tile == other.row_tile - 1;
    if (rows % other.row_tile == 0 || is_almost_whole) return false;
    if (has_avx512) return rows <= (few.padded ? 128 : 12);
    return rows <= (few.head_dim >= large_head ? 128 : 7);
}

bool are_many_rows(const AttentionCall &c, const AttentionKernel &many, const AttentionKernel &few, int64_t queries,
                   int64_t keys) {
    constexpr int64_t rows_of_ten_places = 7;
    const int64_t dim = c.most_features(), rows = c.rows(queries);
    if (many.is(trait::general)) return are_whole_rows_of_options(few, many, dim, rows, c.k.heads * keys * dim);
    if (many.is(trait::many_rows) && !many.padded) return rows >= least_rows(many);
    if (!are_plain_rows(many, few, dim, rows, keys)) return false;
    // A last row tile has the vectors that it fills.
    const int64_t lanes = many.vector_bytes / static_cast<int64_t>(sizeof(float));
    return rows <= lanes || rows * 10 >= ceil_div(rows, lanes) * lanes * rows_of_ten_places;
}

bool are_whole_rows(const AttentionCall &c, const AttentionKernel &decoding, const AttentionKernel &whole,
                    const Sequence &s) {
    if (c.dropout.on) return drops_in_whole_rows(whole, s);
    if (c.k.heads == 0 || decoding.vector_bytes < avx2_bytes || whole.vector_bytes < decoding.vector_bytes)
        return false;
    if (whole.is(trait::sloped) || whole.has_terms()) return false;
    // Tasks of one head (choose_task_heads()) have a row a query.
    const bool has_heads = !(c.mask.data && c.mask.strides[1] != 0);
    const int64_t group = c.sharing(), heads = has_heads ? group : 1;
    const int64_t rows = s.q_len * heads, tasks = ceil_div(s.q_len, whole.token_unit(heads)) * (group / heads);
    const auto gains = [&](int64_t of_rows) {
        const int64_t dim = c.most_features();
        return c.general() ? are_whole_rows_of_options(decoding, whole, dim, of_rows, c.k.heads * s.keys_shown * dim)
                           : of_rows >= least_whole_rows(decoding, whole, dim, s.keys_shown);
    };
    if (!gains(rows)) return false;
    // One task of twice the rows is nearly as quick as two halves of its keys are on two threads. f32 has such halves.
    const bool halves_time = c.general() && decoding.dtype != GYRE_F32 && c.k.heads * tasks == 1 && gains(rows / 2);
    return s.keys_shown <= (halves_time ? key_parts::least : most_keys_of_whole_rows(c.k.heads, tasks));
}

bool may_have_whole_rows(const AttentionCall &c) {
    return c.dropout.on || (c.k.heads > 0 && c.rows(c.q.seqlen) >= fewest_whole_rows);
}

bool sees_few_keys(const AttentionCall &c, int64_t queries, int64_t keys) {
    int64_t seen = keys;
    if (c.right >= 0) seen -= std::min(queries, keys) / 2;
    if (c.left >= 0 && c.right >= 0) seen = std::min(seen, c.left + c.right + 1);
    return seen < least_keys_in_terms(c.q.dtype);
}

} // namespace gyre
