// Which rows of head sizes without kernels of their own take less time in row tiles that read keys and values in place: limits of rows and keys, as
// bench/notes has measured them.
#include "attention/dispatch/dispatch.h"

#include <array>

namespace gyre {
namespace {

constexpr int64_t never = INT64_MAX, from_memory = 4096;
constexpr int64_t rows_of_any_keys = 8, least_keys_of_others = 64; // of all limits below

/// By the rows of a key head, to 12, the fewest keys that they see.
using LeastKeys = std::array<int64_t, 13>;

// Other kernels read all keys once for each row, or copy them. A row that stays empty in a tile costs as much as others. Few keys of several key
// heads are taken at once, by kernels with keys along the lanes. f32 has nothing to widen for each row.
constexpr LeastKeys halves = {never, never, never, 128, 64, 256, 128, 64, 64, 256, 128, 128, 128};
constexpr LeastKeys small_halves = {never, never, 512, 128, 64, 128, 128, 128, 128, 256, 256, 256, 256};
constexpr LeastKeys floats = {never, never, never,       from_memory, 64,  512, 256,
                              128,   64,    from_memory, from_memory, 512, 256};
constexpr LeastKeys small_floats = {never, never, never, 256, 128, 256, 256, 128, 64, 128, 128, 128, 256};

constexpr LeastKeys avx2_halves = {never, never, never, 64, 64, 128, 128, 128, 128, 1024, 1024, 1024, 1024};
constexpr LeastKeys avx2_small_halves = {never, never, never, never, 128,  never, never,
                                         never, never, 1024,  1024,  1024, 1024};
constexpr LeastKeys avx2_floats = {never, never, never, 2048, 128, never, never, 2048, 64, never, never, 512, 128};
constexpr LeastKeys avx2_small_floats = {never, never, never, never, 128, never, never,
                                         never, 64,    never, never, 512, 128};

int64_t least_keys_on_avx2(gyre_dtype dtype, int64_t dim, size_t rows) {
    constexpr int64_t medium_head = 64;
    const bool is_small = dim <= medium_head;
    if (dtype == GYRE_F32) return (is_small ? avx2_small_floats : avx2_floats)[rows];
    return (is_small ? avx2_small_halves : avx2_halves)[rows];
}

int64_t least_keys(gyre_dtype dtype, int64_t dim, size_t rows) {
    constexpr int64_t small_head = 32, small_head_of_floats = 40, medium_head = 64;
    if (dtype != GYRE_F32 && rows == rows_of_any_keys && dim > medium_head) return 0;
    if (dtype != GYRE_F32) return (dim <= small_head ? small_halves : halves)[rows];
    const int64_t least = (dim <= small_head_of_floats ? small_floats : floats)[rows];
    return rows == 4 && dim <= medium_head ? 2 * floats[rows] : least;
}

/// The fewest keys that more than 12 rows see, in tiles of 8.
int64_t least_keys_of_many(gyre_dtype dtype, int64_t dim, int64_t rows) {
    constexpr int64_t small_head = 40, medium_head = 64, large_head = 96, two_tiles = 16, three_tiles = 24;
    if (dtype != GYRE_F32) return dim > (rows <= two_tiles ? medium_head : large_head) ? 256 : never;
    if (rows > three_tiles) return never;
    const bool is_almost_empty = rows == two_tiles + 1 || rows == two_tiles + 2;
    return !is_almost_empty ? 256 : dim <= small_head ? 128 : from_memory;
}

} // namespace

const AttentionKernel *choose_in_place(const AttentionKernel *narrow, const AttentionKernel *wide, int64_t dim,
                                       int64_t rows, int64_t keys) {
    const AttentionKernel *any = narrow ? narrow : wide;
    if (!any) return nullptr;
    constexpr int64_t in_narrow_tiles = 12;
    const bool on_avx2 = any->vector_bytes < avx512_bytes;
    const bool is_many = rows > in_narrow_tiles;
    if (is_many && (on_avx2 || !wide)) return nullptr;
    const auto place = static_cast<size_t>(rows);
    const int64_t least = is_many   ? least_keys_of_many(any->dtype, dim, rows)
                          : on_avx2 ? least_keys_on_avx2(any->dtype, dim, place)
                                    : least_keys(any->dtype, dim, place);
    if (keys < least) return nullptr;
    if (on_avx2 || !wide) return narrow;
    const bool fills_narrow = narrow && (rows <= narrow->row_tile || (rows > wide->row_tile && !is_many));
    return fills_narrow ? narrow : wide;
}

bool may_be_in_place(gyre_dtype dtype, int64_t rows, int64_t keys) {
    if (dtype == GYRE_F32) return rows >= 3 && keys >= least_keys_of_others;
    return rows >= 2 && (rows == rows_of_any_keys || keys >= least_keys_of_others);
}

} // namespace gyre
