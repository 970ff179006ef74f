// What the printed CUDA C++ calls, for this machine: the same names as generators/passes/cuda/device/gyre_device.h has for nvcc.
#pragma once
#include "block.h"
#include "device_memory.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#define __global__
#define __launch_bounds__(...)
#define GYRE_FN static inline __attribute__((always_inline)) // each use is a place of its own
#define GYRE_KERNEL_BEGIN
#define GYRE_BY_VALUE
#define GYRE_BLOCK_X (gyre::emulation::block->x)
#define GYRE_BLOCK_Y (gyre::emulation::block->y)
#define GYRE_BLOCK_Z (gyre::emulation::block->z)
#define GYRE_GRID_X (gyre::emulation::block->grid_x)
#define GYRE_GRID_Y (gyre::emulation::block->grid_y)
#define GYRE_THREAD_X (gyre::emulation::block->thread->x)
#define GYRE_THREAD_Y (gyre::emulation::block->thread->y)
#define GYRE_THREAD_Z 0

#define GYRE_SHARED_MEMORY (gyre::emulation::shared_memory())
#define GYRE_SYNC() gyre::emulation::wait_for_block()
#define GYRE_SYNC_OR(condition) gyre::emulation::any_of_block(condition)

// A kernel whose threads wait for each other.
#define GYRE_COOPERATIVE_ENTRY(kernel)                                                                                 \
    static const gyre::emulation::Entry entry_of_##kernel(                                                             \
        #kernel, [](void **arguments) { gyre::emulation::call(kernel, arguments); }, true);

// A kernel whose threads do not wait for each other.
#define GYRE_ENTRY(kernel)                                                                                             \
    static const gyre::emulation::Entry entry_of_##kernel(                                                             \
        #kernel, [](void **arguments) { gyre::emulation::call(kernel, arguments); }, false);

struct gyre_bf16 {
    uint16_t bits;
};
struct gyre_f16 {
    uint16_t bits;
};

template <class T, int N>
struct gyre_by_value {
    T elements[N];
    const T &operator[](int i) const {
        if (i < 0 || i >= N) gyre::emulation::violation("an argument by value is read beyond its end");
        return elements[i];
    }
};

namespace gyre::emulation {

template <class... Parameters, size_t... Index>
void call_with(void (*kernel)(Parameters...), void **arguments, std::index_sequence<Index...>) {
    kernel(*static_cast<std::remove_const_t<Parameters> *>(arguments[Index])...);
}

/// Calls a kernel as the driver does: with the addresses of its arguments.
template <class... Parameters>
void call(void (*kernel)(Parameters...), void **arguments) {
    call_with(kernel, arguments, std::index_sequence_for<Parameters...>());
}

} // namespace gyre::emulation

template <class To, class From>
GYRE_FN To reinterpret(From x) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &x, sizeof to);
    return to;
}
GYRE_FN float float_from_bits(uint32_t bits) { return reinterpret<float>(bits); }
GYRE_FN float neg_inf_f32() { return -INFINITY; }

template <class To, class From>
struct gyre_conversion {
    static To of(From x) { return (To)x; }
};
template <>
struct gyre_conversion<gyre_bf16, float> {
    static gyre_bf16 of(float x) {
        const uint32_t bits = reinterpret<uint32_t>(x);
        if (x != x) return {0x7fff};
        return {(uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
    }
};
template <>
struct gyre_conversion<float, gyre_bf16> {
    static float of(gyre_bf16 x) { return reinterpret<float>((uint32_t)x.bits << 16); }
};
template <>
struct gyre_conversion<gyre_f16, float> {
    static gyre_f16 of(float x) { return {reinterpret<uint16_t>((_Float16)x)}; }
};
template <>
struct gyre_conversion<float, gyre_f16> {
    static float of(gyre_f16 x) { return (float)reinterpret<_Float16>(x.bits); }
};
template <class To, class From>
GYRE_FN To gyre_cast(From x) {
    return gyre_conversion<To, From>::of(x);
}

template <class T>
GYRE_FN T gyre_min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
GYRE_FN T gyre_max(T a, T b) {
    return a < b ? b : a;
}
// The device takes the number, of a number and NaN.
GYRE_FN float gyre_min(float a, float b) { return std::fmin(a, b); }
GYRE_FN float gyre_max(float a, float b) { return std::fmax(a, b); }
template <class T>
GYRE_FN T gyre_select(bool condition, T yes, T no) {
    return condition ? yes : no;
}
GYRE_FN int gyre_quotient(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
GYRE_FN int gyre_remainder(int a, int b) { return (int)((unsigned)a % (unsigned)b); }

GYRE_FN float gyre_fma(float a, float b, float c) { return std::fma(a, b, c); }
GYRE_FN float gyre_cos_pi(float x) { return (float)std::cos(3.14159265358979323846 * x); }
GYRE_FN float gyre_sin_pi(float x) { return (float)std::sin(3.14159265358979323846 * x); }
GYRE_FN float gyre_exp2_approx(float x) { return std::exp2(x); }
GYRE_FN float gyre_log2_approx(float x) { return std::log2(x); }
GYRE_FN float gyre_reciprocal_approx(float x) { return 1 / x; }

template <class T, class Declared>
GYRE_FN T gyre_shared_load(const Declared *memory, int i) {
    const T *from = (const T *)memory + i;
    T value{};
    if (gyre::emulation::may_read(from, sizeof(T))) std::memcpy(&value, from, sizeof value);
    return value;
}
template <class T, class Declared>
GYRE_FN void gyre_shared_store(Declared *memory, int i, T value) {
    T *to = (T *)memory + i;
    if (gyre::emulation::may_write(to, sizeof(T))) std::memcpy(to, &value, sizeof value);
}

template <int N, class T, class Declared>
GYRE_FN void gyre_shared_load_vector(T *to, const Declared *memory, int i) {
    const T *const from = (const T *)memory + i;
    constexpr size_t aligned = N * sizeof(T) == 8 ? 8 : 16;
    static_assert(N * sizeof(T) % aligned == 0);
    if ((uintptr_t)from % aligned)
        gyre::emulation::violation("neighbours in shared memory are read where they are not aligned");
    for (int n = 0; n < N; n++) to[n] = gyre_shared_load<T>(memory, i + n);
}

template <int N, class T>
GYRE_FN void gyre_load(T *to, const T *from) {
    for (int i = 0; i < N; i++) to[i] = from[i];
}
template <int N, class T>
GYRE_FN void gyre_load_aligned(T *to, const T *from) {
    if ((uintptr_t)from % 16)
        gyre::emulation::violation("neighbours in device memory are read where they are not aligned");
    gyre_load<N>(to, from);
}
template <int N, class T>
GYRE_FN void gyre_store(T *to, const T *from) {
    for (int i = 0; i < N; i++) to[i] = from[i];
}
template <int N, class T>
GYRE_FN void gyre_store(const gyre_written<T> &to, const T *from) {
    for (int i = 0; i < N; i++) to[i] = from[i];
}
template <int N, class T>
GYRE_FN void gyre_store(const gyre_written<T> &to, const T *from, const bool *allowed) {
    for (int i = 0; i < N; i++)
        if (allowed[i]) to[i] = from[i];
}
template <int N, class T>
GYRE_FN void gyre_load(T *to, const T *from, const bool *allowed) {
    for (int i = 0; i < N; i++) to[i] = allowed[i] ? from[i] : T();
}
template <int N, class T>
GYRE_FN void gyre_store(T *to, const T *from, const bool *allowed) {
    for (int i = 0; i < N; i++)
        if (allowed[i]) to[i] = from[i];
}

#include "gyre_warp.h"
