/* What plain attention is made of beside its loops over keys. */
#ifndef PARTS_H
#define PARTS_H

#include "plain.h"

/** e^x for x <= 0: a polynomial, and its exponent set. Written so that a compiler can form several at once. */
static inline float exponential(float x) {
    const float power = x * 1.44269504f > -64 ? x * 1.44269504f : -64;
    const int32_t whole = (int32_t)(power - 0.5f);
    const float r = power - (float)whole;
    union {
        float value;
        int32_t bits;
    } y = {1.0f + r * (0.693147f + r * (0.240227f + r * (0.0555041f + r * (0.00961812f + r * 0.00133336f))))};
    y.bits += whole * (1 << 23);
    return y.value;
}

static inline void rotate(const float *restrict x, float *restrict out, int32_t pairs, const float *restrict cosines,
                          const float *restrict sines, float direction) {
    for (int32_t i = 0; i < pairs; i++) {
        const float sine = direction * sines[i];
        out[i] = x[i] * cosines[i] - x[i + pairs] * sine;
        out[i + pairs] = x[i + pairs] * cosines[i] + x[i] * sine;
    }
}

#endif
