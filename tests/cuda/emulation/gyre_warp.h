// What kernels call whose warps multiply tiles of matrices, for this machine: the same names as generators/passes/cuda/device/gyre_warp.h
// has for nvcc. Included by gyre_device.h.
#pragma once

#define GYRE_LANE (gyre::emulation::block->thread->x)
#define GYRE_LEAST (-INFINITY)

GYRE_FN float gyre_add(float a, float b) { return a + b; }

namespace gyre::emulation {

template <class Operation>
__attribute__((always_inline)) inline float of_quad(float x, const Operation &) {
    float result;
    with_warp(&x, &result, [](const Lane(&lanes)[32]) {
        const auto value = [&](int lane) { return *(const float *)lanes[lane].in; };
        for (int lane = 0; lane < 32; lane++) // in the order of the device's exchanges
            *(float *)lanes[lane].out = Operation::of(Operation::of(value(lane), value(lane ^ 1)),
                                                      Operation::of(value(lane ^ 2), value(lane ^ 3)));
    });
    return result;
}
struct Greater {
    static float of(float a, float b) { return std::fmax(a, b); }
};
struct Sum {
    static float of(float a, float b) { return a + b; }
};

} // namespace gyre::emulation

template <class T>
GYRE_FN const T *gyre_opaque(const T *address) {
    return address;
}
__attribute__((always_inline)) inline bool gyre_any_lane(bool x) {
    bool result;
    gyre::emulation::with_warp(&x, &result, [](const gyre::emulation::Lane(&lanes)[32]) {
        bool any = false;
        for (const gyre::emulation::Lane &l : lanes) any = any || *(const bool *)l.in;
        for (const gyre::emulation::Lane &l : lanes) *(bool *)l.out = any;
    });
    return result;
}
__attribute__((always_inline)) inline int gyre_of_lane(int x, int lane) {
    const int asked[2] = {x, lane};
    int result;
    gyre::emulation::with_warp(asked, &result, [](const gyre::emulation::Lane(&lanes)[32]) {
        for (const gyre::emulation::Lane &l : lanes)
            *(int *)l.out = *(const int *)lanes[((const int *)l.in)[1] % 32].in;
    });
    return result;
}
GYRE_FN float gyre_quad_max(float x) { return gyre::emulation::of_quad(x, gyre::emulation::Greater()); }
GYRE_FN float gyre_quad_sum(float x) { return gyre::emulation::of_quad(x, gyre::emulation::Sum()); }

template <class T>
GYRE_FN uint32_t gyre_pack(T first, T second) {
    return first.bits | (uint32_t)second.bits << 16;
}
template <class T>
GYRE_FN uint32_t gyre_pack(float first, float second) {
    return gyre_pack<T>(gyre_cast<T>(first), gyre_cast<T>(second));
}

template <int N, class T, class Declared>
GYRE_FN void gyre_copy_async(Declared *memory, int i, const T *from) {
    static_assert(N * sizeof(T) == 16);
    T *const to = (T *)memory + i;
    if ((uintptr_t)from % 16 || (uintptr_t)to % 16)
        return gyre::emulation::violation("an asynchronous copy is not aligned to 16 bytes");
    gyre::emulation::copy_later(to, from, 16);
}
template <class T, class Declared>
GYRE_FN void gyre_copy_async_word(Declared *memory, int i, const T *from) {
    static_assert(sizeof(T) == 4);
    gyre::emulation::copy_later((T *)memory + i, from, sizeof(T));
}
template <int N, class T, class Declared>
GYRE_FN void gyre_copy_async_if_aligned(Declared *memory, int i, const T *from) {
    if ((uintptr_t)from % 16 == 0) return gyre_copy_async<N>(memory, i, from);
    for (int n = 0; n < N; n++) gyre_shared_store(memory, i + n, from[n]);
}
GYRE_FN void gyre_copies_commit() { gyre::emulation::end_group_of_copies(); }
template <int Later>
GYRE_FN void gyre_copies_wait() {
    gyre::emulation::wait_for_copies(Later);
}

namespace gyre::emulation {

/// ldmatrix: matrix n gets its rows from lanes 8 n to 8 n + 7.
template <bool Transposed>
__attribute__((always_inline)) inline void load_tiles(uint32_t *to, const uint16_t *row) {
    if ((uintptr_t)row % 16) violation("a row of a tile is not aligned to 16 bytes");
    if (!may_read(row, 16)) row = nullptr;
    with_warp(row, to, [](const Lane(&lanes)[32]) {
        for (int matrix = 0; matrix < 4; matrix++) {
            unsigned banks = 0;
            for (int row = 0; row < 8; row++) banks |= 1u << (uintptr_t)lanes[8 * matrix + row].in / 16 % 8;
            if (banks != 0xff) violation("rows of a tile are in the same banks of shared memory");
            for (int lane = 0; lane < 32; lane++) {
                uint32_t both = 0;
                for (int i = 0; i < 2; i++) {
                    const int row = Transposed ? lane % 4 * 2 + i : lane / 4,
                              column = Transposed ? lane / 4 : lane % 4 * 2 + i;
                    const auto *numbers = (const uint16_t *)lanes[8 * matrix + row].in;
                    both |= (uint32_t)(numbers ? numbers[column] : 0xffff) << 16 * i;
                }
                ((uint32_t *)lanes[lane].out)[matrix] = both;
            }
        }
    });
}

struct Factors {
    const uint32_t *a, *b;
};

/// mma.m16n8k16 of gyre_bf16 or gyre_f16.
template <class T>
void multiply_tiles(const Lane (&lanes)[32]);

} // namespace gyre::emulation

template <class T, class Declared>
GYRE_FN void gyre_load_tiles(uint32_t *to, const Declared *memory, int i) {
    gyre::emulation::load_tiles<false>(to, (const uint16_t *)memory + i);
}
template <class T, class Declared>
GYRE_FN void gyre_load_tiles_transposed(uint32_t *to, const Declared *memory, int i) {
    gyre::emulation::load_tiles<true>(to, (const uint16_t *)memory + i);
}
template <class T>
GYRE_FN void gyre_mma(float *c, const uint32_t *a, const uint32_t *b) {
    const gyre::emulation::Factors factors{a, b};
    gyre::emulation::with_warp(&factors, c, gyre::emulation::multiply_tiles<T>);
}

namespace gyre::emulation {

struct ColumnOfTile {
    const float *tile;
    int column;
};

} // namespace gyre::emulation

GYRE_FN void gyre_column(float (&rows)[2], const float *tile, int column) {
    const gyre::emulation::ColumnOfTile asked{tile, column};
    gyre::emulation::with_warp(&asked, rows, [](const gyre::emulation::Lane(&lanes)[32]) {
        for (int lane = 0; lane < 32; lane++) {
            const int column = ((const gyre::emulation::ColumnOfTile *)lanes[lane].in)->column;
            const auto &holder = *(const gyre::emulation::ColumnOfTile *)lanes[lane / 4 * 4 + column % 8 / 2].in;
            for (int half = 0; half < 2; half++)
                ((float *)lanes[lane].out)[half] = holder.tile[column / 8 * 4 + half * 2 + column % 2];
        }
    });
}

#include "../../../generators/passes/cuda/device/gyre_guard.h"
#include "../../../generators/passes/cuda/device/gyre_rows.h"

#include "../../../generators/passes/cuda/device/gyre_fma.h"
