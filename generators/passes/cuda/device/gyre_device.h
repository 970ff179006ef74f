// What the printed CUDA C++ calls (printer.h), for nvcc. The tests have a header of the same name for this machine.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#define GYRE_FN static __device__ __forceinline__
#define GYRE_KERNEL_BEGIN
#define GYRE_ENTRY(kernel)
#define GYRE_COOPERATIVE_ENTRY(kernel)
#define GYRE_SYNC() __syncthreads()
#define GYRE_SYNC_OR(condition) __syncthreads_or(condition)
#define GYRE_SHARED_MEMORY gyre_shared_memory
#define GYRE_BLOCK_X ((int)blockIdx.x)
#define GYRE_BLOCK_Y ((int)blockIdx.y)
#define GYRE_BLOCK_Z ((int)blockIdx.z)
#define GYRE_GRID_X ((int)gridDim.x)
#define GYRE_GRID_Y ((int)gridDim.y)
#define GYRE_THREAD_X ((int)threadIdx.x)
#define GYRE_THREAD_Y ((int)threadIdx.y)
#define GYRE_THREAD_Z ((int)threadIdx.z)

extern __shared__ __align__(128) unsigned char gyre_shared_memory[];

typedef __nv_bfloat16 gyre_bf16;
typedef __half gyre_f16;

// An array that is an argument itself, and is read from where arguments are: without the second word each thread copies it to its
// stack.
#define GYRE_BY_VALUE __grid_constant__
template <class T, int N>
struct gyre_by_value {
    T elements[N];
    __device__ const T &operator[](int i) const { return elements[i]; }
};

template <class To, class From>
struct gyre_conversion {
    static __device__ __forceinline__ To of(From x) { return (To)x; }
};
template <>
struct gyre_conversion<gyre_bf16, float> {
    static __device__ __forceinline__ gyre_bf16 of(float x) { return __float2bfloat16_rn(x); }
};
template <>
struct gyre_conversion<float, gyre_bf16> {
    static __device__ __forceinline__ float of(gyre_bf16 x) { return __bfloat162float(x); }
};
template <>
struct gyre_conversion<gyre_f16, float> {
    static __device__ __forceinline__ gyre_f16 of(float x) { return __float2half_rn(x); }
};
template <>
struct gyre_conversion<float, gyre_f16> {
    static __device__ __forceinline__ float of(gyre_f16 x) { return __half2float(x); }
};
template <class To, class From>
GYRE_FN To gyre_cast(From x) {
    return gyre_conversion<To, From>::of(x);
}

template <class To, class From>
GYRE_FN To reinterpret(From x) {
    static_assert(sizeof(To) == sizeof(From), "of one size");
    To to;
    memcpy(&to, &x, sizeof to);
    return to;
}
GYRE_FN float float_from_bits(uint32_t bits) { return __uint_as_float(bits); }
GYRE_FN float neg_inf_f32() { return -INFINITY; }

template <class T>
GYRE_FN T gyre_min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
GYRE_FN T gyre_max(T a, T b) {
    return a < b ? b : a;
}
GYRE_FN float gyre_min(float a, float b) { return fminf(a, b); }
GYRE_FN float gyre_max(float a, float b) { return fmaxf(a, b); }

template <class T>
GYRE_FN T gyre_select(bool condition, T yes, T no) {
    return condition ? yes : no;
}

GYRE_FN int gyre_quotient(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
GYRE_FN int gyre_remainder(int a, int b) { return (int)((unsigned)a % (unsigned)b); }

GYRE_FN float gyre_fma(float a, float b, float c) { return fmaf(a, b, c); }
GYRE_FN float gyre_cos_pi(float x) { return cospif(x); }
GYRE_FN float gyre_sin_pi(float x) { return sinpif(x); }
GYRE_FN float gyre_exp2_approx(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
GYRE_FN float gyre_log2_approx(float x) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

GYRE_FN float gyre_reciprocal_approx(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Elements of shared memory, whatever type it was declared as.
template <class T, class Declared>
GYRE_FN T gyre_shared_load(const Declared *memory, int i) {
    return ((const T *)memory)[i];
}
template <class T, class Declared>
GYRE_FN void gyre_shared_store(Declared *memory, int i, T value) {
    ((T *)memory)[i] = value;
}

// N neighbours of shared memory: 8 bytes, or a whole number of 16 bytes, and so aligned.
template <int N, class T, class Declared>
GYRE_FN void gyre_shared_load_vector(T *to, const Declared *memory, int i) {
    if constexpr (N * sizeof(T) == 8) {
        const uint2 piece = *(const uint2 *)((const T *)memory + i);
        memcpy(to, &piece, sizeof piece);
    } else {
        uint4 pieces[N * sizeof(T) / 16];
#pragma unroll
        for (int n = 0; n < (int)(N * sizeof(T) / 16); n++) pieces[n] = ((const uint4 *)((const T *)memory + i))[n];
        memcpy(to, pieces, N * sizeof(T));
    }
}

// N neighbours, in 16-byte accesses if they are a whole number of these and so aligned.
template <int N, class T>
GYRE_FN bool gyre_wide(const T *memory) {
    return N * sizeof(T) % 16 == 0 && (uintptr_t)memory % 16 == 0;
}
template <int N, class T>
GYRE_FN void gyre_load(T *to, const T *from) {
    if (gyre_wide<N>(from)) {
        uint4 pieces[N * sizeof(T) / 16 + 1];
#pragma unroll
        for (int i = 0; i < (int)(N * sizeof(T) / 16); i++) pieces[i] = ((const uint4 *)from)[i];
        memcpy(to, pieces, N * sizeof(T));
    } else {
#pragma unroll
        for (int i = 0; i < N; i++) to[i] = from[i];
    }
}
// The same where they are known to be so aligned: nothing is asked, and loads that follow each other are under way together.
template <int N, class T>
GYRE_FN void gyre_load_aligned(T *to, const T *from) {
    uint4 pieces[N * sizeof(T) / 16];
#pragma unroll
    for (int i = 0; i < (int)(N * sizeof(T) / 16); i++) pieces[i] = ((const uint4 *)from)[i];
    memcpy(to, pieces, N * sizeof(T));
}
template <int N, class T>
GYRE_FN void gyre_store(T *to, const T *from) {
    if (gyre_wide<N>(to)) {
        uint4 pieces[N * sizeof(T) / 16 + 1];
        memcpy(pieces, from, N * sizeof(T));
#pragma unroll
        for (int i = 0; i < (int)(N * sizeof(T) / 16); i++) ((uint4 *)to)[i] = pieces[i];
    } else {
#pragma unroll
        for (int i = 0; i < N; i++) to[i] = from[i];
    }
}

// Loads the elements that are allowed. The others are 0, and are not read.
template <int N, class T>
GYRE_FN void gyre_load(T *to, const T *from, const bool *allowed) {
#pragma unroll
    for (int i = 0; i < N; i++) to[i] = allowed[i] ? from[i] : T();
}
template <int N, class T>
GYRE_FN void gyre_store(T *to, const T *from, const bool *allowed) {
#pragma unroll
    for (int i = 0; i < N; i++)
        if (allowed[i]) to[i] = from[i];
}

#include "gyre_warp.h"
