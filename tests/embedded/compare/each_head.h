/* What attention in f32 is around its loops over keys. */
#ifndef EACH_HEAD_H
#define EACH_HEAD_H

#include "parts.h"
#include "peers.h"

/** One query over its head's keys, which are `stride` numbers apart. */
typedef void (*attention_of_head)(const float *restrict q, const float *restrict k, const float *restrict v,
                                  float *restrict out, int32_t keys, int32_t stride);

/** Rotates each query, lets it attend to the keys up to its own place, and rotates the result back. It is inlined, and `attend`
 *  with it: a call by pointer would cost MVE's intrinsics 40 % more instructions. */
__attribute__((always_inline)) static inline void attend_each_head(const comparison *c, float *out,
                                                                   attention_of_head attend) {
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

#endif
