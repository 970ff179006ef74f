// Products with values that count in some rows only, whatever they hold: for nvcc, and as it is for the tests' emulation.
// Included by gyre_warp.h.
#pragma once

// What a word of two numbers of 16 bits, or of one in f32, is made of.
template <class T>
struct gyre_pair;
template <>
struct gyre_pair<gyre_bf16> {
    static constexpr uint32_t infinities = 0x7f807f80, ones = 0x3f803f80, signs = 0x80008000;
};
template <>
struct gyre_pair<gyre_f16> {
    static constexpr uint32_t infinities = 0x7c007c00, ones = 0x3c003c00, signs = 0x80008000;
};
template <>
struct gyre_pair<float> {
    static constexpr uint32_t infinities = 0x7f800000, signs = 0x80000000;
};

constexpr uint32_t gyre_magnitudes = 0x7fff7fff, gyre_signs = 0x80008000;

// The sign bit of each number is set if that is infinite or NaN; other bits say nothing.
template <class T>
GYRE_FN uint32_t gyre_not_finite(uint32_t pair) {
    return (pair & ~gyre_pair<T>::signs) + (gyre_pair<T>::signs - gyre_pair<T>::infinities);
}
// The sign bit of each half is set if that is NaN; other bits say nothing.
template <class T>
GYRE_FN uint32_t gyre_not_a_number(uint32_t pair) {
    return (pair & gyre_magnitudes) + (gyre_signs - gyre_pair<T>::infinities - 0x00010001u);
}
// All bits of a half, where its sign bit is set.
GYRE_FN uint32_t gyre_halves(uint32_t signs) { return ((signs & gyre_signs) >> 15) * 0xffffu; }

// Whether a tile of Rows x Columns numbers, in rows Stride apart, holds one that is not finite. Asked by Warps whole warps, of
// which each thread looks at its part; a barrier.
template <class T, int Rows, int Columns, int Stride, int Warps, class Declared>
GYRE_FN int gyre_any_not_finite(const Declared *memory, int first) {
    constexpr int numbers = 16 / (int)sizeof(T), of_row = Columns / numbers, pieces = Rows * of_row,
                  threads = 32 * Warps;
    uint32_t found = 0;
#pragma unroll
    for (int turn = 0; turn < (pieces + threads - 1) / threads; turn++) {
        const int piece = turn * threads + GYRE_THREAD_Y * 32 + GYRE_LANE;
        if (pieces % threads != 0 && piece >= pieces) break;
        uint32_t words[4];
        const int at = first + piece / of_row * Stride + piece % of_row * numbers;
        gyre_shared_load_vector<4>(words, memory, at * (int)sizeof(T) / 4);
#pragma unroll
        for (int i = 0; i < 4; i++) found |= gyre_not_finite<T>(words[i]);
    }
    return GYRE_SYNC_OR((found & gyre_pair<T>::signs) != 0);
}

// sums += weights values, of 16 rows, Depths x 16 keys and Features x 8 columns. A key that a row does not see adds nothing to
// it. Other keys whose value is not finite add that itself. What is finite has the bits of a product of tiles.
//   seen(depth, half, right, pair)   of the element of a tile of 16 x 16 that this lane has in row half, its columns right and pair
// A loop over the columns, because it is rarely run: few registers and instructions count.
template <class T, int Depths, int Features, int Stride, class Seen, class Declared>
GYRE_FN void gyre_product_of_seen(float *sums, const uint32_t *weights, const Seen &seen, const Declared *values,
                                  int first) {
#pragma unroll 1
    for (int tile = 0; tile < Features; tile++) {
        float sum[4] = {0, 0, 0, 0}, above[4] = {0, 0, 0, 0}, below[4] = {0, 0, 0, 0};
#pragma unroll
        for (int i = 0; i < 4 * Features; i++) sum[i % 4] = i / 4 == tile ? sums[i] : sum[i % 4];
#pragma unroll
        for (int depth = 0; depth < Depths; depth++) {
            uint32_t pairs[4], finite[2], up[2], down[2], ones[4];
            gyre_load_tiles_transposed<T>(pairs, values, first + (depth * 16 + GYRE_LANE % 16) * Stride + tile * 8);
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const uint32_t flaws = gyre_halves(gyre_not_finite<T>(pairs[i]));
                const uint32_t nans = gyre_halves(gyre_not_a_number<T>(pairs[i])), negative = gyre_halves(pairs[i]);
                finite[i] = pairs[i] & ~flaws;
                up[i] = gyre_pair<T>::ones & (nans | (flaws & ~negative));
                down[i] = gyre_pair<T>::ones & (nans | (flaws & negative));
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
                ones[i] = gyre_pair<T>::ones & ((seen(depth, i % 2, i / 2, 0) ? 0xffffu : 0) |
                                                (seen(depth, i % 2, i / 2, 1) ? 0xffff0000u : 0));
            gyre_mma<T>(sum, weights + 4 * depth, finite);
            gyre_mma<T>(above, ones, up);
            gyre_mma<T>(below, ones, down);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (above[i] > 0) sum[i] += INFINITY;
            if (below[i] > 0) sum[i] -= INFINITY;
        }
#pragma unroll
        for (int i = 0; i < 4 * Features; i++) sums[i] = i / 4 == tile ? sum[i % 4] : sums[i];
    }
}
