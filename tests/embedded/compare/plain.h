/* What gyre_embedded computes, as plain C loops for a compiler to do its best with. f32, half pairing. */
#ifndef GYRE_PLAIN_H
#define GYRE_PLAIN_H

#include <stdint.h>

enum { PLAIN_DIM = 64, PLAIN_MOST_KEYS = 256 };

/** angles: [tokens, 2, pairs]; features after the first 2 pairs of each head are copied. */
void plain_rotary(const float *x, float *out, int32_t tokens, int32_t heads, int32_t pairs, const float *angles);

/** Causal attention of the last `tokens` of `keys` positions over rotated keys and values; all features of queries are
 *  rotated, and all of the results rotated back. */
void plain_attention(const float *q, const float *k, const float *v, float *out, int32_t tokens, int32_t keys,
                     int32_t heads, int32_t kv_heads, const float *angles);

#endif
