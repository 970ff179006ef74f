/* Causal attention with RoPE and RoPER on random tensors, in C99. */
#include <gyre/gyre.h>

#include <stdio.h>
#include <stdlib.h>

enum { tokens = 128, heads = 8, head_dim = 64, elements = tokens * heads * head_dim };

static float q[elements], k[elements], v[elements], out[elements];

int main(void) {
    const int64_t shape[4] = {1, tokens, heads, head_dim}; /* batch, seqlen, heads, head_dim */
    gyre_rope rope = gyre_rope_defaults();                 /* theta 10000, half pairing */
    gyre_attention_args args = gyre_attention_defaults();
    for (int i = 0; i < elements; i++) {
        q[i] = (float)rand() / (float)RAND_MAX - 0.5f;
        k[i] = (float)rand() / (float)RAND_MAX - 0.5f;
        v[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    }
    args.q = gyre_tensor_dense(q, GYRE_F32, 4, shape);
    args.k = gyre_tensor_dense(k, GYRE_F32, 4, shape);
    args.v = gyre_tensor_dense(v, GYRE_F32, 4, shape);
    args.out = gyre_tensor_dense(out, GYRE_F32, 4, shape);
    args.causal = 1;
    args.rope = &rope;       /* of queries and keys */
    args.value_rope = &rope; /* of values, and back */
    if (gyre_attention(NULL, &args) != GYRE_OK) {
        fprintf(stderr, "%s\n", gyre_last_error());
        return 1;
    }
    printf("out[0] = %g, by %s\n", out[0], gyre_selected_kernel(NULL));
    /* The first token sees itself alone, and its value is rotated there and back. */
    return !(out[0] - v[0] < 1e-6f && v[0] - out[0] < 1e-6f);
}
