/* Attention in f32 with MVE's intrinsics, as an engineer writes it for a Cortex-M55: four features at once. */
#include <arm_mve.h>

#include "each_head.h"

static float sum_of(float32x4_t x) {
    return vgetq_lane_f32(x, 0) + vgetq_lane_f32(x, 1) + vgetq_lane_f32(x, 2) + vgetq_lane_f32(x, 3);
}

static float score(const float *restrict q, const float *restrict k) {
    float32x4_t first = vdupq_n_f32(0), second = first;
    for (int32_t d = 0; d < PLAIN_DIM; d += 8) {
        first = vfmaq_f32(first, vld1q_f32(q + d), vld1q_f32(k + d));
        second = vfmaq_f32(second, vld1q_f32(q + d + 4), vld1q_f32(k + d + 4));
    }
    return sum_of(vaddq_f32(first, second));
}

/** As exponential() of four. */
static float32x4_t exponentials(float32x4_t x) {
    const float32x4_t power = vmaxnmq_f32(vmulq_n_f32(x, 1.44269504f), vdupq_n_f32(-64));
    const int32x4_t whole = vcvtq_s32_f32(vsubq_n_f32(power, 0.5f));
    const float32x4_t r = vsubq_f32(power, vcvtq_f32_s32(whole));
    float32x4_t y = vfmasq_n_f32(vdupq_n_f32(0.00133336f), r, 0.00961812f);
    y = vfmasq_n_f32(y, r, 0.0555041f);
    y = vfmasq_n_f32(y, r, 0.240227f);
    y = vfmasq_n_f32(y, r, 0.693147f);
    y = vfmasq_n_f32(y, r, 1.0f);
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(y), vshlq_n_s32(whole, 23)));
}

/** out[16 features] = sum over j of weights[j] * v[j], times factor. */
static void mix(const float *restrict weights, const float *restrict v, int32_t keys, int32_t stride, float factor,
                float *restrict out) {
    float32x4_t a = vdupq_n_f32(0), b = a, c = a, d = a;
    for (int32_t j = 0; j < keys; j++, v += stride) {
        a = vfmaq_n_f32(a, vld1q_f32(v), weights[j]);
        b = vfmaq_n_f32(b, vld1q_f32(v + 4), weights[j]);
        c = vfmaq_n_f32(c, vld1q_f32(v + 8), weights[j]);
        d = vfmaq_n_f32(d, vld1q_f32(v + 12), weights[j]);
    }
    vst1q_f32(out, vmulq_n_f32(a, factor));
    vst1q_f32(out + 4, vmulq_n_f32(b, factor));
    vst1q_f32(out + 8, vmulq_n_f32(c, factor));
    vst1q_f32(out + 12, vmulq_n_f32(d, factor));
}

static void attend(const float *q, const float *k, const float *v, float *out, int32_t keys, int32_t stride) {
    static float weights[PLAIN_MOST_KEYS + 4];
    float largest = -1e30f;
    for (int32_t j = 0; j < keys; j++) {
        weights[j] = score(q, k + j * stride) * 0.125f; /* 1 / sqrt(64) */
        largest = weights[j] > largest ? weights[j] : largest;
    }
    for (int32_t j = keys; j % 4; j++) weights[j] = -1e30f;
    float32x4_t sums = vdupq_n_f32(0);
    for (int32_t j = 0; j < keys; j += 4) {
        const float32x4_t four = exponentials(vsubq_n_f32(vld1q_f32(weights + j), largest));
        sums = vaddq_f32(sums, four);
        vst1q_f32(weights + j, four);
    }
    const float factor = 1 / sum_of(sums);
    for (int32_t d = 0; d < PLAIN_DIM; d += 16) mix(weights, v + d, keys, stride, factor, out + d);
}

void mve_of_f32(const comparison *c, float *out) { attend_each_head(c, out, attend); }
