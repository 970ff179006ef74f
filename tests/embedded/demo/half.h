/* f16 where the compiler may not know it. */
#ifndef GYRE_HALF_H
#define GYRE_HALF_H

#include <stdint.h>

static inline float from_half(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    float magnitude = (float)(exponent ? (bits & 1023) + 1024 : bits & 1023);
    for (int e = exponent ? exponent : 1; e < 25; e++) magnitude *= 0.5f;
    for (int e = 25; e < exponent; e++) magnitude *= 2;
    return bits >> 15 ? -magnitude : magnitude;
}

#endif
