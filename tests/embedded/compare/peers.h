/* Computes the same attention by other means. */
#ifndef PEERS_H
#define PEERS_H

#include <stdint.h>

#include "plain.h"

/** One call: rotated queries over a cache, results rotated back; causal, and the last query is at the last key. */
typedef struct comparison {
    const float *q, *angles;
    const void *k, *v;
    const float *k_scales, *v_scales; /* of a cache in int8, else null */
    int32_t tokens, keys, heads, kv_heads;
} comparison;

/** By plain C, as plain_attention(). */
void plain_of_f16(const comparison *c, float *out);
void plain_of_i8(const comparison *c, float *out);

/** With MVE's intrinsics, where the processor has them. */
void mve_of_f32(const comparison *c, float *out);

/** With CMSIS-DSP's dot product, where GYRE_CMSIS_DSP names a clone of it. */
void cmsis_of_f32(const comparison *c, float *out);

#endif
