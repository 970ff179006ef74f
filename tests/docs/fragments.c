/* What include/gyre/README.md shows, run: its blocks stand in gradients.inc, cache.inc, masks.inc and linear.inc, each in a function whose
 * parameters and variables are those that the text speaks of. Prints what is wrong. */
#include <gyre/gyre.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOKENS = 24, NEW_TOKENS = 4, HEADS = 2, DIM = 16, ELEMENTS = TOKENS * HEADS * DIM };

static const char *take_gradients(gyre_attention_args args, gyre_tensor lse, gyre_tensor out_grad, gyre_tensor q_grad,
                                  gyre_tensor k_grad, gyre_tensor v_grad) {
#include "gradients.inc"
    return NULL;
}

static const char *append_and_attend(gyre_attention_args args, gyre_rope rope, gyre_rope value_rope, gyre_tensor k,
                                     gyre_tensor v, gyre_tensor k_cache, gyre_tensor v_cache, gyre_tensor held,
                                     gyre_tensor held_and_new) {
#include "cache.inc"
    return NULL;
}

static const char *prepare_and_attend(gyre_attention_args args, uint64_t *prepared, size_t bytes) {
#include "masks.inc"
    return NULL;
}

static const char *attend_linearly(gyre_rope rope, gyre_tensor q, gyre_tensor k, gyre_tensor v, gyre_tensor out,
                                   gyre_tensor positions, gyre_tensor kv_state, gyre_tensor k_state) {
#include "linear.inc"
    return NULL;
}

static float q[ELEMENTS], k[ELEMENTS], v[ELEMENTS], out[ELEMENTS], again[ELEMENTS], lse[TOKENS * HEADS];
static float out_grad[ELEMENTS], q_grad[ELEMENTS], k_grad[ELEMENTS], v_grad[ELEMENTS];
static float k_cache[ELEMENTS], v_cache[ELEMENTS], kv_state[HEADS * DIM * DIM], k_state[HEADS * DIM];

/* Tokens from `first` on, [1, count, HEADS, DIM]. */
static gyre_tensor rows(float *data, int64_t first, int64_t count) {
    const int64_t shape[4] = {1, count, HEADS, DIM};
    return gyre_tensor_dense(data + first * HEADS * DIM, GYRE_F32, 4, shape);
}

static gyre_tensor integers(int32_t *data, int64_t count) { return gyre_tensor_dense(data, GYRE_I32, 1, &count); }

static int differ(const char *what, const float *a, const float *b, int count) {
    int i;
    for (i = 0; i < count; i++) {
        if (!(fabsf(a[i] - b[i]) <= 1e-5f)) {
            printf("%s: element %d is %g, expected %g\n", what, i, a[i], b[i]);
            return 1;
        }
    }
    return 0;
}

static gyre_attention_args causal_call(int64_t first, int64_t count, const gyre_rope *rope, float *result) {
    gyre_attention_args args = gyre_attention_defaults();
    args.q = rows(q, first, count);
    args.k = rows(k, 0, TOKENS);
    args.v = rows(v, 0, TOKENS);
    args.out = rows(result, first, count);
    args.causal = 1;
    args.rope = rope;
    args.value_rope = rope;
    return args;
}

/* The gradient of v's first feature, beside a difference of sum(out * out_grad). */
static int check_gradients(const gyre_rope *rope) {
    const int64_t lse_shape[3] = {1, HEADS, TOKENS};
    const float step = 1.0f / 64;
    double change = 0;
    int i;
    const char *fault = take_gradients(causal_call(0, TOKENS, rope, out),
                                       gyre_tensor_dense(lse, GYRE_F32, 3, lse_shape), rows(out_grad, 0, TOKENS),
                                       rows(q_grad, 0, TOKENS), rows(k_grad, 0, TOKENS), rows(v_grad, 0, TOKENS));
    gyre_attention_args args = causal_call(0, TOKENS, rope, again);
    if (fault) return printf("gradients: %s\n", fault);
    v[0] += step;
    if (gyre_attention(NULL, &args) != GYRE_OK) return printf("gradients: %s\n", gyre_last_error());
    v[0] -= step;
    for (i = 0; i < ELEMENTS; i++) change += ((double)again[i] - out[i]) * out_grad[i];
    if (!(fabs(change / step - v_grad[0]) <= 1e-3))
        return printf("gradients: %g, expected %g\n", v_grad[0], change / step);
    return 0;
}

/* Tokens that come through a cache, in two steps, give what attention over all of them gives. */
static int check_cache(gyre_rope rope) {
    int64_t first;
    for (first = 0; first < TOKENS; first += TOKENS - NEW_TOKENS) {
        const int64_t count = first ? NEW_TOKENS : TOKENS - NEW_TOKENS;
        int32_t held = (int32_t)first, held_and_new = (int32_t)(first + count);
        const char *fault = append_and_attend(causal_call(first, count, &rope, again), rope, rope,
                                              rows(k, first, count), rows(v, first, count), rows(k_cache, 0, TOKENS),
                                              rows(v_cache, 0, TOKENS), integers(&held, 1), integers(&held_and_new, 1));
        if (fault) return printf("cache: %s\n", fault);
    }
    return differ("cache", again, out, ELEMENTS);
}

/* What a causal call gives, by a mask. */
static int check_masks(const gyre_rope *rope) {
    static char sees[TOKENS * TOKENS];
    static uint64_t prepared[(TOKENS * 12 + 256) / 8];
    const int64_t shape[2] = {TOKENS, TOKENS};
    const gyre_tensor mask = gyre_tensor_dense(sees, GYRE_BOOL, 2, shape);
    gyre_attention_args args = causal_call(0, TOKENS, rope, again);
    const char *fault;
    int i;
    for (i = 0; i < TOKENS * TOKENS; i++) sees[i] = i % TOKENS <= i / TOKENS;
    args.causal = 0;
    args.mask = &mask;
    fault = prepare_and_attend(args, prepared, sizeof prepared);
    if (fault) return printf("masks: %s\n", fault);
    return differ("masks", again, out, ELEMENTS);
}

/* Linear attention in two pieces gives the state of both: the sums of elu(k) + 1 over all tokens. */
static int check_linear(gyre_rope rope) {
    int64_t first;
    float sums[HEADS * DIM] = {0};
    int i;
    for (first = 0; first < TOKENS; first += TOKENS - NEW_TOKENS) {
        const int64_t count = first ? NEW_TOKENS : TOKENS - NEW_TOKENS;
        const int64_t kv_shape[4] = {1, HEADS, DIM, DIM}, k_shape[3] = {1, HEADS, DIM};
        int32_t positions[TOKENS];
        const char *fault;
        for (i = 0; i < count; i++) positions[i] = (int32_t)(first + i);
        fault = attend_linearly(rope, rows(q, first, count), rows(k, first, count), rows(v, first, count),
                                rows(again, first, count), integers(positions, count),
                                gyre_tensor_dense(kv_state, GYRE_F32, 4, kv_shape),
                                gyre_tensor_dense(k_state, GYRE_F32, 3, k_shape));
        if (fault) return printf("linear attention: %s\n", fault);
    }
    for (i = 0; i < ELEMENTS; i++) sums[i % (HEADS * DIM)] += k[i] > 0 ? k[i] + 1 : expf(k[i]);
    for (i = 0; i < HEADS * DIM; i++) {
        if (!(fabsf(k_state[i] - sums[i]) <= 1e-4f * TOKENS))
            return printf("linear attention: state %g, expected %g\n", k_state[i], sums[i]);
    }
    return 0;
}

int main(void) {
    gyre_rope rope = gyre_rope_defaults();
    int i;
    for (i = 0; i < ELEMENTS; i++) {
        q[i] = (float)sin(0.7 * i);
        k[i] = (float)sin(1.3 * i);
        v[i] = (float)cos(0.9 * i);
        out_grad[i] = (float)cos(1.7 * i);
    }
    if (check_gradients(&rope)) return 1;
    return check_cache(rope) || check_masks(&rope) || check_linear(rope);
}
