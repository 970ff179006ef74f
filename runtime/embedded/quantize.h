/* What both ways to quantise rows have in common. Loops over features work on the bits of floats as integers, which compilers put into
 * vectors without being allowed to reorder sums. */
#ifndef GYRE_EMBEDDED_QUANTIZE_H
#define GYRE_EMBEDDED_QUANTIZE_H

#include "check.h"

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#include <arm_mve.h>
#define GYRE_EMBEDDED_MVE
#endif

typedef union real {
    float value;
    uint32_t bits;
} real;

enum { infinity_bits = 0x7f800000, ones_bits = 0x4b400000 };

/** 1.5 * 2^23: the last bit of a float beside it counts ones, so that adding it rounds to nearest. */
static const float ones = 12582912.0f;

/** The bits of the largest magnitude: as integers, magnitudes compare as they do as floats, and infinities and NaNs are largest. */
static inline uint32_t largest_bits(const real *x, int32_t count) {
    uint32_t largest = 0;
    for (int32_t i = 0; i < count; i++) {
        const uint32_t magnitude = x[i].bits & 0x7fffffffu;
        largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
}

#endif
