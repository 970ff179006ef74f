/* The demo's tensors, made from nothing on the board and in golden.py alike. */
#ifndef GYRE_INPUTS_H
#define GYRE_INPUTS_H

#include <stdint.h>

enum { TENSOR_Q, TENSOR_K, TENSOR_V, TENSOR_X };

/** Element of a tensor: in [-1, 1), a multiple of 2^-10, exact in f16. */
static inline float element(uint32_t tensor, uint32_t index) {
    uint32_t h = (index * 4 + tensor + 1) * 0x9E3779B1u;
    h = (h ^ h >> 16) * 0x45D9F3Bu;
    h = (h ^ h >> 16) * 0x45D9F3Bu;
    return (float)(int32_t)(h >> 21) * (1.0f / 1024) - 1;
}

/** `count` elements from `first` on. */
static inline void fill(float *out, uint32_t tensor, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) out[i] = element(tensor, first + i);
}

/** The larger of two errors; a NaN is the largest. */
/** NaN, if one of the two is. */
static inline float larger(float a, float b) { return a >= b || a != a ? a : b; }

static inline float distance(float a, float b) { return a > b ? a - b : b - a; }

#endif
