/// Scratch memory of calls: a caller's buffer or the context's own, cut into one slab a thread; and the kernels'
/// malloc.
#pragma once
#include "gyre/gyre.h"

#include <cstddef>
#include <cstdint>

namespace gyre {

constexpr size_t cache_line = 64;
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr size_t round_up(size_t bytes) { return (bytes + cache_line - 1) / cache_line * cache_line; }

/// The sum of two sizes; the largest number there is, which nobody has memory for, where it overflows.
inline size_t saturated_bytes(size_t a, size_t b) {
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

/// Bytes of as many slabs as threads can be busy with that many tasks.
inline size_t bytes_of_slabs(size_t slab, int threads, int64_t tasks) {
    const auto busy = static_cast<size_t>(tasks < threads ? tasks : threads);
    size_t bytes;
    return __builtin_mul_overflow(slab, busy, &bytes) ? SIZE_MAX : bytes;
}

/// Memory for one running kernel. Kernels free in almost, but not quite, the reverse order of allocation: a block that
/// is freed below the top is given back when everything above it is.
class Slab {
public:
    Slab(void *base, size_t size) : base(static_cast<char *>(base)), size(size) {}

    void *allocate(size_t bytes);
    void release(void *pointer);
    /// A kernel asked for more than its generator promised, and got heap memory instead: a defect, never silent.
    bool overflowed() const { return overflow; }

private:
    struct Block;
    char *base;
    size_t size;
    Block *top = nullptr;
    bool overflow = false;
};

/// Memory that only grows, owned by a context.
class Arena {
public:
    Arena() = default;
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;
    ~Arena();

    /// Returns at least `bytes`, on a cache line; nullptr if there is no memory. Invalidates what it gave before.
    void *reserve(size_t bytes);

private:
    void *memory = nullptr;
    size_t capacity = 0;
};

/// `needed` bytes on a cache line from the caller's buffer, if there is one, else from the arena.
/// Errors: WORKSPACE_TOO_SMALL (also a caller's size without a buffer), OUT_OF_MEMORY.
gyre_status acquire_workspace(void *callers, size_t callers_size, size_t needed, Arena &arena, char **memory);

/// Room that a caller's buffer needs beyond the sum of its parts, because it may start anywhere.
constexpr size_t workspace_slack = cache_line;

} // namespace gyre
