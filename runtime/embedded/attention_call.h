/* What the tasks of a call of attention hand to the kernel: described once a call, and where a task begins in each task. */
#ifndef GYRE_EMBEDDED_ATTENTION_CALL_H
#define GYRE_EMBEDDED_ATTENTION_CALL_H

#include "attention.h"
#include "kernel_call.h"

typedef struct attention_call {
    const gyre_embedded_attention_args *args;
    int32_t most_heads, most_tokens; /* of a task: one of the two is 1 */
    size_t row_bytes, k_row_bytes;   /* of a query, of a key */
    size_t token_bytes, k_token_bytes;

    int32_t first_token; /* that sees a key */

    /* Where token 0 has the heads that tasks are of. They read one head of the cache. */
    const uint8_t *q_begin, *k_begin, *v_begin;
    uint8_t *out_begin;
    const float *k_scales_begin, *v_scales_begin; /* caches of int8 only */
    float *lse_begin;                             /* NULL: the caller wants none */

    /* {0, extent, stride, 0} of each dimension. Rows are tokens of a head, or heads of a token, which have its angles and its
     * position. */
    halide_dimension_t rows[3], elements[2], scales[1], lse_rows[2], q_table[2], out_table[2];
    halide_buffer_t q, out, k, v, k_scales, v_scales, lse_view, q_cos, q_sin, out_cos, out_sin;
    int32_t zero, q_half, q_interleaved, out_half, out_interleaved, slot_stride, row_step;
    float scale;
    int32_t first_visible, last_visible, keys; /* of a task: the last key is one that some row sees */
    int32_t most_keys;                         /* from where a task's keys begin */
    int32_t heads;                             /* that tasks are of */
    slab memory, *context;
    void *arguments[37]; /* two fewer unless the cache is int8, one unless scores are capped */
} attention_call;

/** Everything that is the same for all tasks, and what tokens give that see no key. */
void gyre_embedded_begin_attention(attention_call *c, const gyre_embedded_attention_args *a);

/** Writes zeros, and -inf as the denominator, for the first tokens if they see no key. Returns how many they are. Kernels are called for rows that
 *  see one, since the first block of keys sets their state. */
int32_t gyre_embedded_write_blind_tokens(const gyre_embedded_attention_args *a);

/** The tasks that follow are of heads [head, head + heads), which read kv_head of the cache. */
void gyre_embedded_take_heads(attention_call *c, int32_t head, int32_t heads, int32_t kv_head);

/** Calls the kernel for all tokens of these heads, a task each. */
gyre_embedded_status gyre_embedded_attend(attention_call *c);

#endif
