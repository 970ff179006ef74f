/* Attention, between its files. */
#ifndef GYRE_EMBEDDED_ATTENTION_H
#define GYRE_EMBEDDED_ATTENTION_H

#include "check.h"

enum { line = 64 }; /* kernels' blocks begin at multiples of it */

/** Query tokens [token, token + tokens) in heads [head, head + heads), which read one head of the cache. */
typedef struct attention_task {
    int32_t token, tokens, head, heads; /* one of the two counts is 1 */
    int32_t first_key, keys;            /* that some row sees; from the start of a block */
} attention_task;

gyre_embedded_status gyre_embedded_check_attention(const gyre_embedded_attention_args *a);

/** One call of the kernel; the task's keys are not known yet. */
gyre_embedded_status gyre_embedded_attention_task(const gyre_embedded_attention_args *a, attention_task t);

#endif
