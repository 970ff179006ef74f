/* Attention at head size 72 in a program that has the kernels it uses, and no others. */
#include <gyre/gyre.h>
#include <gyre/kernels.h>

#include <stdio.h>
#include <string.h>

enum { tokens = 30, heads = 3, head_dim = 72, elements = tokens * heads * head_dim };

static float x[elements], out[elements];

int main(void) {
    const int64_t shape[4] = {1, tokens, heads, head_dim};
    gyre_attention_args args = gyre_attention_defaults();
    gyre_kernel_info kernel;
    int linked = 0;
    for (int i = 0; i < elements; i++) x[i] = 0.5f;
    args.q = gyre_tensor_dense(x, GYRE_F32, 4, shape);
    args.k = args.q;
    args.v = args.q;
    args.out = gyre_tensor_dense(out, GYRE_F32, 4, shape);
    args.causal = 1;
    if (gyre_attention(NULL, &args) != GYRE_OK) {
        fprintf(stderr, "%s\n", gyre_last_error());
        return 1;
    }
    while (gyre_kernel_at(linked, &kernel)) {
        linked++;
    }
    printf("%s of %d linked kernels\n", gyre_selected_kernel(NULL), linked);
    return out[elements - 1] != 0.5f || strcmp(gyre_selected_library(NULL), "my_kernels") != 0;
}
