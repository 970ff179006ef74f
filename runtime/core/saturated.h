/// Sums and products of extents, strides and counts that callers give: one that overflows becomes the largest number there
/// is, which no limit lets pass.
#pragma once
#include <cstdint>

namespace gyre {

constexpr int64_t saturated = INT64_MAX;

/// |n|.
constexpr int64_t magnitude(int64_t n) { return n >= 0 ? n : n == INT64_MIN ? saturated : -n; }

/// a + b of numbers >= 0.
inline int64_t saturated_sum(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? saturated : sum;
}

/// a * b of numbers >= 0.
inline int64_t saturated_product(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? saturated : product;
}

/// How far the last of `extent` elements lies from the first; 0 if there are none.
inline int64_t reach(int64_t extent, int64_t stride) {
    return extent > 1 ? saturated_product(extent - 1, magnitude(stride)) : 0;
}

} // namespace gyre
