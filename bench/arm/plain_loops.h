/* What a C programmer would write, for comparison: compiled with -O3 (plain_…), and with -O3 -ffast-math (plain_fast_…). */
#ifndef GYRE_PLAIN_LOOPS_H
#define GYRE_PLAIN_LOOPS_H

typedef __fp16 half; /* storage: arithmetic on it is in float */

/* Pairs (i, i + dim / 2).   x, out: [tokens, heads, dim];  cos, sin: [tokens, dim / 2]. */
#define ROTARY_PARAMETERS                                                                                              \
    (const float *restrict x, const float *restrict cos, const float *restrict sin, float *restrict out, int tokens,   \
     int heads, int dim)

/* Softmax attention of one head.   q, out: [queries, dim];  k, v: [keys, dim];  scores: [keys], scratch. */
#define ATTENTION_PARAMETERS(TYPE)                                                                                     \
    (const TYPE *restrict q, const TYPE *restrict k, const TYPE *restrict v, TYPE *restrict out,                       \
     float *restrict scores, int queries, int keys, int dim, float scale)

void plain_rotary_f32 ROTARY_PARAMETERS;
void plain_attention_f32 ATTENTION_PARAMETERS(float);
void plain_attention_f16 ATTENTION_PARAMETERS(half);
void plain_fast_rotary_f32 ROTARY_PARAMETERS;
void plain_fast_attention_f32 ATTENTION_PARAMETERS(float);
void plain_fast_attention_f16 ATTENTION_PARAMETERS(half);

#endif
