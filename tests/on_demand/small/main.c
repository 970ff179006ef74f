/* Rotates queries and keys, and attends: a first query sees itself alone, so its result is its value. And lacks memory for a while, which
 * a status tells, though most functions have no tables to unwind. */
#include <gyre/gyre.h>

#include <stdio.h>
#include <stdlib.h>

enum { TOKENS = 8, HEADS = 2, DIM = 64, SIZE = TOKENS * HEADS * DIM, ONE = 0x3c00 /* in f16 */ };

static uint16_t q[SIZE], k[SIZE], v[SIZE], out[SIZE];

static gyre_tensor tensor(uint16_t *data) {
    const int64_t shape[4] = {1, TOKENS, HEADS, DIM};
    return gyre_tensor_dense(data, GYRE_F16, 4, shape);
}

static gyre_status rotate(uint16_t *data) {
    gyre_rotary_args args = gyre_rotary_defaults();
    args.x = tensor(data);
    args.out = tensor(data);
    return gyre_rotary(NULL, &args);
}

static int is_rotated(void) {
    int turned = 0;
    for (int i = 0; i < SIZE; i++) turned += q[i] != ONE;
    return turned > SIZE / 2 && q[0] == ONE; /* position 0 is not turned */
}

void *__libc_malloc(size_t size); /* glibc's own */
static int lacks_memory;

/* Takes malloc()'s place, in libstdc++ as well. */
void *malloc(size_t size) { return lacks_memory ? NULL : __libc_malloc(size); }

static int tells_lack_of_memory(void) {
    const gyre_context_options options = gyre_context_defaults();
    gyre_context *context = NULL;
    gyre_status status;
    lacks_memory = 1;
    status = gyre_context_create(&options, &context);
    lacks_memory = 0;
    return status == GYRE_OUT_OF_MEMORY && !context;
}

int main(void) {
    for (int i = 0; i < SIZE; i++) {
        q[i] = k[i] = ONE;
        v[i] = (uint16_t)(ONE + i % 7);
    }
    gyre_attention_args args = gyre_attention_defaults();
    args.q = tensor(q);
    args.k = tensor(k);
    args.v = tensor(v);
    args.out = tensor(out);
    args.causal = 1;
    if (rotate(q) != GYRE_OK || rotate(k) != GYRE_OK || gyre_attention(NULL, &args) != GYRE_OK) {
        puts(gyre_last_error());
        return 1;
    }
    if (!tells_lack_of_memory()) {
        puts("small: lack of memory was not told");
        return 1;
    }
    int same = 1;
    for (int i = 0; i < HEADS * DIM; i++) same &= out[i] == v[i];
    puts(same && is_rotated() ? "small: ok" : "small: wrong");
    return !(same && is_rotated());
}
