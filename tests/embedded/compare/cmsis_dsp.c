/* Attention in f32 with CMSIS-DSP's dot product for scores, and plain loops for the rest. */
#include <dsp/basic_math_functions.h>

#include "each_head.h"

static void attend(const float *restrict q, const float *restrict k, const float *restrict v, float *restrict out,
                   int32_t keys, int32_t stride) {
    static float weights[PLAIN_MOST_KEYS];
    float largest = -1e30f, sum = 0;
    for (int32_t j = 0; j < keys; j++) {
        arm_dot_prod_f32(q, k + j * stride, PLAIN_DIM, &weights[j]);
        weights[j] *= 0.125f; /* 1 / sqrt(64) */
        largest = weights[j] > largest ? weights[j] : largest;
    }
    for (int32_t j = 0; j < keys; j++) {
        weights[j] = exponential(weights[j] - largest);
        sum += weights[j];
    }
    for (int32_t d = 0; d < PLAIN_DIM; d++) out[d] = 0;
    for (int32_t j = 0; j < keys; j++)
        for (int32_t d = 0; d < PLAIN_DIM; d++) out[d] += weights[j] * v[j * stride + d];
    for (int32_t d = 0; d < PLAIN_DIM; d++) out[d] *= 1 / sum;
}

void cmsis_of_f32(const comparison *c, float *out) { attend_each_head(c, out, attend); }
