#include "parts.h"

void plain_rotary(const float *x, float *out, int32_t tokens, int32_t heads, int32_t pairs, const float *angles) {
    for (int32_t token = 0; token < tokens; token++, angles += 2 * pairs) {
        for (int32_t head = 0; head < heads; head++, x += PLAIN_DIM, out += PLAIN_DIM) {
            rotate(x, out, pairs, angles, angles + pairs, 1);
            for (int32_t d = 2 * pairs; d < PLAIN_DIM; d++) out[d] = x[d];
        }
    }
}

static void attend(const float *restrict q, const float *restrict k, const float *restrict v, float *restrict out,
                   int32_t keys, int32_t stride) {
    static float weights[PLAIN_MOST_KEYS];
    float largest = -1e30f, sum = 0;
    for (int32_t j = 0; j < keys; j++) {
        float score = 0;
        for (int32_t d = 0; d < PLAIN_DIM; d++) score += q[d] * k[j * stride + d];
        weights[j] = score * 0.125f; /* 1 / sqrt(64) */
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

void plain_attention(const float *q, const float *k, const float *v, float *out, int32_t tokens, int32_t keys,
                     int32_t heads, int32_t kv_heads, const float *angles) {
    float rotated[PLAIN_DIM], result[PLAIN_DIM];
    for (int32_t token = 0; token < tokens; token++, angles += PLAIN_DIM) {
        for (int32_t head = 0; head < heads; head++, q += PLAIN_DIM, out += PLAIN_DIM) {
            const int32_t kv_head = head / (heads / kv_heads) * PLAIN_DIM;
            rotate(q, rotated, PLAIN_DIM / 2, angles, angles + PLAIN_DIM / 2, 1);
            attend(rotated, k + kv_head, v + kv_head, result, keys - tokens + token + 1, kv_heads * PLAIN_DIM);
            rotate(result, out, PLAIN_DIM / 2, angles, angles + PLAIN_DIM / 2, -1);
        }
    }
}
