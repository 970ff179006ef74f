/* RoPER attention from C. With queries of zero every key weighs the same, so a value that is (1, 0) in its first pair,
 * rotated to position j and back from i, is on average out[i] = 1/n sum_j (cos(j - i), sin(j - i))        the first
 * pair turns by 1 radian a token
 */
#include <gyre/gyre.h>

#include <math.h>
#include <stdio.h>

enum { tokens = 5, heads = 2, dim = 64 };

static float zeros[tokens * heads * dim], v[tokens * heads * dim], out[tokens * heads * dim];

int main(void) {
    const int64_t shape[4] = {1, tokens, heads, dim};
    gyre_rope rope = gyre_rope_defaults();
    gyre_attention_args args = gyre_attention_defaults();
    int i, j;
    for (i = 0; i < tokens * heads; i++) v[i * dim] = 1;
    args.q = gyre_tensor_dense(zeros, GYRE_F32, 4, shape);
    args.k = gyre_tensor_dense(zeros, GYRE_F32, 4, shape);
    args.v = gyre_tensor_dense(v, GYRE_F32, 4, shape);
    args.out = gyre_tensor_dense(out, GYRE_F32, 4, shape);
    args.rope = &rope;
    args.value_rope = &rope;
    if (gyre_attention(NULL, &args) != GYRE_OK) {
        printf("%s\n", gyre_last_error());
        return 1;
    }
    for (i = 0; i < tokens; i++) {
        const float *pair = out + i * heads * dim;
        double c = 0, s = 0;
        for (j = 0; j < tokens; j++) {
            c += cos(j - i) / tokens;
            s += sin(j - i) / tokens;
        }
        if (!(fabs(pair[0] - c) < 1e-6 && fabs(pair[dim / 2] - s) < 1e-6)) {
            printf("token %d: (%g, %g), expected (%g, %g)\n", i, pair[0], pair[dim / 2], c, s);
            return 1;
        }
    }
    printf("gyre %s, %s\n", gyre_version(), gyre_selected_kernel(NULL));
    return 0;
}
