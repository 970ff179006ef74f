// Products of tiles in f32 by multiply-adds: for nvcc, and as it is for the tests' emulation. Included by gyre_warp.h.
//
// Sums and left operands lie as those of tensor cores do (fragments.h), so that nothing beside the product differs. The four lanes
// of a row tell each other what they hold of it; a number of the right operand is read by the eight lanes of its column at once.
#pragma once

// sums += a b, of 16 x 16 and 16 x (8 Tiles) numbers. b(k, n) is at first + k AlongDepth + n AlongColumns of shared memory.
template <int Tiles, int AlongDepth, int AlongColumns, class Declared>
GYRE_FN void gyre_product(float *sums, const float *a, const Declared *memory, int first) {
    static_assert(AlongDepth == 1 || AlongColumns == 1, "dense rows");
    constexpr int at_once = AlongDepth == 1 ? 4 : 1; // along the depth
    first += GYRE_LANE % 4 * 2 * AlongColumns;
#pragma unroll
    for (int k = 0; k < 16; k += at_once) {
        float rows[at_once][2];
#pragma unroll
        for (int i = 0; i < at_once; i++) gyre_column(rows[i], a, k + i);
#pragma unroll
        for (int tile = 0; tile < Tiles; tile++) {
            float b[2][at_once];
            const int here = first + k * AlongDepth + tile * 8 * AlongColumns;
            if constexpr (AlongDepth == 1) {
#pragma unroll
                for (int pair = 0; pair < 2; pair++)
                    gyre_shared_load_vector<4>(b[pair], memory, here + pair * AlongColumns);
            } else {
                gyre_shared_load_vector<2>(&b[0][0], memory, here);
            }
#pragma unroll
            for (int i = 0; i < 4 * at_once; i++) {
                float &sum = sums[tile * 4 + i % 4];
                sum = gyre_fma(rows[i / 4][i / 2 % 2], b[i % 2][i / 4], sum);
            }
        }
    }
}

// sums += weights values where a row sees the value's key, of 16 rows, Depths x 16 keys and Features x 8 columns. What is not finite
// is added as it is, whatever its weight. What is finite has the bits of gyre_product().
//   seen(depth, half, right, pair)   of the element of a tile of 16 x 16 that this lane has in row half, its columns right and pair
// A loop over the columns, because it is rarely run: few registers and instructions count.
template <class T, int Depths, int Features, int Stride, class Seen, class Declared>
GYRE_FN void gyre_product_of_seen(float *sums, const float *weights, const Seen &seen, const Declared *values,
                                  int first) {
#pragma unroll 1
    for (int tile = 0; tile < Features; tile++) {
        float sum[4] = {0, 0, 0, 0};
#pragma unroll
        for (int i = 0; i < 4 * Features; i++) sum[i % 4] = i / 4 == tile ? sums[i] : sum[i % 4];
#pragma unroll
        for (int depth = 0; depth < Depths; depth++) {
            float own[8];
#pragma unroll
            for (int i = 0; i < 8; i++) own[i] = seen(depth, i / 2 % 2, i / 4, i % 2) ? 1.0f : 0.0f;
#pragma unroll
            for (int k = 0; k < 16; k++) {
                float value[2], row[2], sees[2];
                gyre_column(row, weights + 8 * depth, k);
                gyre_column(sees, own, k);
                gyre_shared_load_vector<2>(value, values,
                                           first + (depth * 16 + k) * Stride + tile * 8 + GYRE_LANE % 4 * 2);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const float number = value[i % 2], added = gyre_fma(row[i / 2], number, sum[i]);
                    const bool finite = fabsf(number) < INFINITY;
                    if (sees[i / 2] > 0) sum[i] = finite ? added : sum[i] + number;
                }
            }
        }
#pragma unroll
        for (int i = 0; i < 4 * Features; i++) sums[i] = i / 4 == tile ? sum[i % 4] : sums[i];
    }
}
