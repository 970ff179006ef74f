// What kernels call whose warps multiply tiles of matrices (warp_printer.h), for nvcc. Included by gyre_device.h.
#pragma once

#define GYRE_LANE ((int)threadIdx.x)
#define GYRE_LEAST (-INFINITY)

GYRE_FN float gyre_add(float a, float b) { return a + b; }
GYRE_FN float gyre_quad_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
GYRE_FN float gyre_quad_sum(float x) {
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}
// The address itself, of which the compiler does not know what it is the sum of: what is added to it is one instruction then.
template <class T>
GYRE_FN const T *gyre_opaque(const T *address) {
    asm("" : "+l"(address));
    return address;
}
GYRE_FN bool gyre_any_lane(bool x) { return __any_sync(~0u, x); }
// What another lane of the warp has.
GYRE_FN int gyre_of_lane(int x, int lane) { return __shfl_sync(~0u, x, lane); }

// Two neighbours along a row as one word, the first in its lower half.
template <class T>
GYRE_FN uint32_t gyre_pack(T first, T second) {
    uint16_t halves[2];
    memcpy(halves, &first, 2);
    memcpy(halves + 1, &second, 2);
    return halves[0] | (uint32_t)halves[1] << 16;
}
template <class T>
GYRE_FN uint32_t gyre_pack(float first, float second);
template <>
__device__ __forceinline__ uint32_t gyre_pack<gyre_bf16>(float first, float second) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
    return reinterpret<uint32_t>(both);
}
template <>
__device__ __forceinline__ uint32_t gyre_pack<gyre_f16>(float first, float second) {
    const __half2 both = __floats2half2_rn(first, second);
    return reinterpret<uint32_t>(both);
}

GYRE_FN uint32_t gyre_shared_address(const void *memory) { return (uint32_t)__cvta_generic_to_shared(memory); }

// 16 bytes from device memory, aligned to as many, that are there once they were waited for.
template <int N, class T, class Declared>
GYRE_FN void gyre_copy_async(Declared *memory, int i, const T *from) {
    static_assert(N * sizeof(T) == 16, "of 16 bytes");
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(gyre_shared_address((T *)memory + i)), "l"(from)
                 : "memory");
}
// The same of 4 bytes.
template <class T, class Declared>
GYRE_FN void gyre_copy_async_word(Declared *memory, int i, const T *from) {
    static_assert(sizeof(T) == 4, "a word");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(gyre_shared_address((T *)memory + i)), "l"(from)
                 : "memory");
}
// Copies as gyre_copy_async() does, but at once where the 16 bytes are not aligned.
template <int N, class T, class Declared>
GYRE_FN void gyre_copy_async_if_aligned(Declared *memory, int i, const T *from) {
    if ((uintptr_t)from % 16 == 0) return gyre_copy_async<N>(memory, i, from);
#pragma unroll
    for (int n = 0; n < N; n++) ((T *)memory)[i + n] = from[n];
}
// Ends a group of copies; waits until at most `Later` groups of this thread are not there.
GYRE_FN void gyre_copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Later>
GYRE_FN void gyre_copies_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Later) : "memory");
}

// Four 8 x 8 tiles, of which each lane points at one row of 8 numbers; transposed: each lane gets pairs along columns.
template <class T, class Declared>
GYRE_FN void gyre_load_tiles(uint32_t *to, const Declared *memory, int i) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(gyre_shared_address((const T *)memory + i))
                 : "memory");
}
template <class T, class Declared>
GYRE_FN void gyre_load_tiles_transposed(uint32_t *to, const Declared *memory, int i) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(gyre_shared_address((const T *)memory + i))
                 : "memory");
}

// c += a b, of 16 x 16 and 16 x 8 numbers, in f32.
template <class T>
GYRE_FN void gyre_mma(float *c, const uint32_t *a, const uint32_t *b);
template <>
__device__ __forceinline__ void gyre_mma<gyre_bf16>(float *c, const uint32_t *a, const uint32_t *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <>
__device__ __forceinline__ void gyre_mma<gyre_f16>(float *c, const uint32_t *a, const uint32_t *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// What both rows of a lane have in a column of a tile of 16 x 16, which one of the four lanes of these rows holds.
GYRE_FN void gyre_column(float (&rows)[2], const float *tile, int column) {
#pragma unroll
    for (int half = 0; half < 2; half++)
        rows[half] = __shfl_sync(~0u, tile[column / 8 * 4 + half * 2 + column % 2], column % 8 / 2, 4);
}

#include "gyre_guard.h"
#include "gyre_rows.h"

#include "gyre_fma.h"
