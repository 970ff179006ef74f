/* What all functions check. */
#ifndef GYRE_EMBEDDED_CHECK_H
#define GYRE_EMBEDDED_CHECK_H

#include "finding.h"

enum {
    largest_head_dim = 512,
    largest_extent = 1 << 20 /* of tokens, keys and heads: sums of rows and keys stay in 32 bits */
};

static inline size_t element_size(gyre_embedded_dtype dtype) {
    return dtype == GYRE_EMBEDDED_I8 ? 1 : dtype == GYRE_EMBEDDED_F32 ? 4 : 2;
}

/** A pairing, too, is one of two numbers. */
static inline int is_switch(int32_t n) { return n == 0 || n == 1; }

static inline int is_aligned(const void *pointer, size_t alignment) {
    return pointer && (uintptr_t)pointer % alignment == 0;
}

/** Bytes of [tokens, heads, head_dim], 0 if kernels cannot count the elements, in 32 bits. */
static inline size_t dense_bytes(int32_t tokens, int32_t heads, int32_t head_dim, gyre_embedded_dtype dtype) {
    const int64_t elements = (int64_t)tokens * heads * head_dim;
    return elements < INT32_MAX / 4 ? (size_t)elements * element_size(dtype) : 0;
}

static inline int overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a_bytes && b_bytes && (x < y ? y - x < a_bytes : x - y < b_bytes);
}

#endif
