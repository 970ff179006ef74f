/* Attention in f32 with CMSIS-DSP's dot product for scores, and plain loops for the rest. */
#include <dsp/basic_math_functions.h>

#include "parts.h"
#include "peers.h"

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

void cmsis_of_f32(const comparison *c, float *out) {
    float rotated[PLAIN_DIM], result[PLAIN_DIM];
    const float *q = c->q, *angles = c->angles;
    for (int32_t token = 0; token < c->tokens; token++, angles += PLAIN_DIM) {
        for (int32_t head = 0; head < c->heads; head++, q += PLAIN_DIM, out += PLAIN_DIM) {
            const int32_t kv_head = head / (c->heads / c->kv_heads) * PLAIN_DIM;
            const int32_t keys = c->keys - c->tokens + token + 1;
            rotate(q, rotated, PLAIN_DIM / 2, angles, angles + PLAIN_DIM / 2, 1);
            attend(rotated, (const float *)c->k + kv_head, (const float *)c->v + kv_head, result, keys,
                   c->kv_heads * PLAIN_DIM);
            rotate(result, out, PLAIN_DIM / 2, angles, angles + PLAIN_DIM / 2, -1);
        }
    }
}
