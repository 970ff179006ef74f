/* The header as a C99 program uses it: the call of its opening example, checked by the properties of softmax. */
#include <gyre/gyre.h>

#include <math.h>
#include <stdio.h>

#define SEQLEN 128
#define HEADS 8
#define HEAD_DIM 64

static float q[1 * SEQLEN * HEADS * HEAD_DIM], k[SEQLEN * HEADS * HEAD_DIM], v[SEQLEN * HEADS * HEAD_DIM];
static float out[SEQLEN * HEADS * HEAD_DIM];
static float k_cache[SEQLEN * HEADS * HEAD_DIM], v_cache[SEQLEN * HEADS * HEAD_DIM], cached[SEQLEN * HEADS * HEAD_DIM];

static int fail(const char *what) {
    printf("%s: %s\n", what, gyre_last_error());
    return 1;
}

int main(void) {
    const int64_t shape[4] = {1, SEQLEN, HEADS, HEAD_DIM};
    gyre_rope rope = gyre_rope_defaults();
    gyre_attention_args args = gyre_attention_defaults();
    gyre_context *context = NULL;
    int64_t i;
    for (i = 0; i < SEQLEN * HEADS * HEAD_DIM; i++) {
        q[i] = (float)sin(0.1 * (double)i);
        k[i] = (float)cos(0.2 * (double)i);
        v[i] = (float)(i % HEAD_DIM);
        out[i] = NAN;
    }
    args.q = gyre_tensor_dense(q, GYRE_F32, 4, shape);
    args.k = gyre_tensor_dense(k, GYRE_F32, 4, shape);
    args.v = gyre_tensor_dense(v, GYRE_F32, 4, shape);
    args.out = gyre_tensor_dense(out, GYRE_F32, 4, shape);
    args.causal = 1;
    args.rope = &rope;
    if (gyre_attention(NULL, &args) != GYRE_OK) return fail("attention");
    /* All values of a feature are equal, hence so is every weighted mean. */
    for (i = 0; i < SEQLEN * HEADS * HEAD_DIM; i++)
        if (!(fabs(out[i] - v[i]) <= 1e-5 * (1 + v[i]))) return fail("the mean of equal values differs from them");

    args.value_rope = &rope;
    if (gyre_context_create(NULL, &context) != GYRE_OK) return fail("context");
    if (gyre_attention(context, &args) != GYRE_OK) return fail("attention with rotated values");
    /* The first query sees the first key alone, so that rotating its value there and back leaves it. */
    for (i = 0; i < HEADS * HEAD_DIM; i++)
        if (!(fabs(out[i] - v[i]) <= 1e-4)) return fail("the first row differs from the first value");

    /* Does the same from caches that are filled in two steps. */
    for (i = 0; i < 2; i++) {
        const int32_t held[1] = {(int32_t)i * (SEQLEN - 1)};
        const int64_t one[1] = {1}, step[4] = {1, i ? 1 : SEQLEN - 1, HEADS, HEAD_DIM};
        const gyre_tensor lengths = gyre_tensor_dense(held, GYRE_I32, 1, one);
        gyre_cache_append_args append = gyre_cache_append_defaults();
        append.k = gyre_tensor_dense(k + held[0] * HEADS * HEAD_DIM, GYRE_F32, 4, step);
        append.v = gyre_tensor_dense(v + held[0] * HEADS * HEAD_DIM, GYRE_F32, 4, step);
        append.k_cache = gyre_tensor_dense(k_cache, GYRE_F32, 4, shape);
        append.v_cache = gyre_tensor_dense(v_cache, GYRE_F32, 4, shape);
        append.cache_seqlens = &lengths;
        append.rope = append.value_rope = &rope;
        if (gyre_cache_append(context, &append) != GYRE_OK) return fail("append");
    }
    args.k = gyre_tensor_dense(k_cache, GYRE_F32, 4, shape);
    args.v = gyre_tensor_dense(v_cache, GYRE_F32, 4, shape);
    args.out = gyre_tensor_dense(cached, GYRE_F32, 4, shape);
    args.keys_rotated = args.values_rotated = 1;
    if (gyre_attention(context, &args) != GYRE_OK) return fail("attention over the cache");
    for (i = 0; i < SEQLEN * HEADS * HEAD_DIM; i++)
        if (!(fabs(out[i] - cached[i]) <= 1e-4)) return fail("attention over the cache differs");

    printf("%s with %d thread(s), kernel %s\n", gyre_version(), (int)gyre_context_threads(context),
           gyre_selected_kernel(context));
    gyre_context_destroy(context);

    args.q.shape[3] = HEAD_DIM + 1;
    if (gyre_attention(NULL, &args) != GYRE_BAD_SHAPE) return fail("a wrong shape was accepted");
    return 0;
}
