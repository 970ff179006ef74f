// What kernels call whose warpgroups multiply tiles of matrices by wgmma, for nvcc and compute capability 9.0a. Included after gyre_device.h.
#pragma once
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error "products of warpgroups are of compute capability 9.0a"
#endif

// Patterns of swizzled rows begin at multiples of 1024 bytes.
extern __shared__ __align__(1024) unsigned char gyre_swizzled_memory[];
#undef GYRE_SHARED_MEMORY
#define GYRE_SHARED_MEMORY gyre_swizzled_memory

// What this thread has written to shared memory may be read by wgmma after the next barrier.
GYRE_FN void gyre_fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Begins a group of products: what was done to the registers that they take is over.
GYRE_FN void gyre_warpgroup_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
GYRE_FN void gyre_warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Later>
GYRE_FN void gyre_warpgroup_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Later) : "memory");
}
// No use of the sums is moved across this.
template <int Count>
GYRE_FN void gyre_warpgroup_hold(float *c) {
#pragma unroll
    for (int i = 0; i < Count; i++) asm volatile("" : "+f"(c[i])::"memory");
}

#define GYRE_SUMS_8(c, i)                                                                                              \
    "+f"((c)[i]), "+f"((c)[i + 1]), "+f"((c)[i + 2]), "+f"((c)[i + 3]), "+f"((c)[i + 4]), "+f"((c)[i + 5]),            \
        "+f"((c)[i + 6]), "+f"((c)[i + 7])
#define GYRE_SUMS_32(c, i) GYRE_SUMS_8(c, i), GYRE_SUMS_8(c, i + 8), GYRE_SUMS_8(c, i + 16), GYRE_SUMS_8(c, i + 24)
#define GYRE_FACTOR(a) "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3])

#define GYRE_SUMS_OF_64                                                                                                \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                           \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define GYRE_SUMS_OF_128                                                                                               \
    GYRE_SUMS_OF_64 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "               \
                    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

#define GYRE_PRODUCT(type, columns, sums, operands)                                                                    \
    "{\n.reg .pred adds;\nsetp.ne.b32 adds, 1, 0;\n"                                                                   \
    "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32." type "." type " {" sums "}, " operands ";\n}"

#define GYRE_PRODUCT_64(type)                                                                                          \
    asm volatile(GYRE_PRODUCT(type, "64", GYRE_SUMS_OF_64, "{%32, %33, %34, %35}, %36, adds, 1, 1, %37")               \
                 : GYRE_SUMS_32(c, 0)                                                                                  \
                 : GYRE_FACTOR(a), "l"(descriptor), "n"((int)Transposed))

#define GYRE_PRODUCT_128(type)                                                                                         \
    asm volatile(GYRE_PRODUCT(type, "128", GYRE_SUMS_OF_128, "{%64, %65, %66, %67}, %68, adds, 1, 1, %69")             \
                 : GYRE_SUMS_32(c, 0), GYRE_SUMS_32(c, 32)                                                             \
                 : GYRE_FACTOR(a), "l"(descriptor), "n"((int)Transposed))

#define GYRE_SHARED_PRODUCT_64(type)                                                                                   \
    asm volatile(GYRE_PRODUCT(type, "64", GYRE_SUMS_OF_64, "%32, %33, adds, 1, 1, 0, %34")                             \
                 : GYRE_SUMS_32(c, 0)                                                                                  \
                 : "l"(a), "l"(descriptor), "n"((int)Transposed))

#define GYRE_SHARED_PRODUCT_128(type)                                                                                  \
    asm volatile(GYRE_PRODUCT(type, "128", GYRE_SUMS_OF_128, "%64, %65, adds, 1, 1, 0, %66")                           \
                 : GYRE_SUMS_32(c, 0), GYRE_SUMS_32(c, 32)                                                             \
                 : "l"(a), "l"(descriptor), "n"((int)Transposed))

template <class T>
struct gyre_is_bf16 {
    static constexpr bool value = false;
};
template <>
struct gyre_is_bf16<gyre_bf16> {
    static constexpr bool value = true;
};

// c += a b, of 64 x 16 and 16 x Columns numbers, in f32: the warpgroup's, when its group was waited for. Transposed: b has its columns as neighbours.
template <class T, int Columns, bool Transposed>
GYRE_FN void gyre_warpgroup_multiply(float *c, const uint32_t *a, uint64_t descriptor) {
    static_assert(Columns == 64 || Columns == 128, "of one or two panels");
    if constexpr (Columns == 64 && gyre_is_bf16<T>::value)
        GYRE_PRODUCT_64("bf16");
    else if constexpr (Columns == 64)
        GYRE_PRODUCT_64("f16");
    else if constexpr (gyre_is_bf16<T>::value)
        GYRE_PRODUCT_128("bf16");
    else
        GYRE_PRODUCT_128("f16");
}

// Likewise, of a left factor that the descriptor `a` finds in shared memory, with the depth as neighbours.
template <class T, int Columns, bool Transposed>
GYRE_FN void gyre_warpgroup_multiply(float *c, uint64_t a, uint64_t descriptor) {
    static_assert(Columns == 64 || Columns == 128, "of one or two panels");
    if constexpr (Columns == 64 && gyre_is_bf16<T>::value)
        GYRE_SHARED_PRODUCT_64("bf16");
    else if constexpr (Columns == 64)
        GYRE_SHARED_PRODUCT_64("f16");
    else if constexpr (gyre_is_bf16<T>::value)
        GYRE_SHARED_PRODUCT_128("bf16");
    else
        GYRE_SHARED_PRODUCT_128("f16");
}

// Which warpgroup of its block of threads this one is; the compiler knows that its lanes agree.
GYRE_FN int gyre_warpgroup() { return __shfl_sync(~0u, GYRE_THREAD_Y / 4, 0); }

#include "gyre_rings.h"
#include "gyre_swizzle.h"
