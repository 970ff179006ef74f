/* Attention of many shapes, without rotations, against the definition in f32: key blocks and row tiles that are not
 * full, rows that see no key, grouped heads, windows, in place; and nothing is written behind the results. */
#include <gyre/embedded_kernels.h>

#include "demo.h"
#include "inputs.h"
#include "report.h"

enum {
    DIM = 64,
    MOST_TOKENS = 7,
    MOST_HEADS = 6,
    FAR_KEYS =
        GYRE_ATTENTION_F32_D64_KEY_BLOCK + 24, /* a window leaves the first block out, of some tokens or of all */
    MOST_KEYS = FAR_KEYS > 40 ? FAR_KEYS : 40,
    MOST_KEY_ROWS = FAR_KEYS > 40 * 3 ? FAR_KEYS : 40 * 3,
    GUARD = 16
};

typedef struct shape {
    int32_t tokens, keys, heads, kv_heads, causal, window;
} shape;

static const shape shapes[] = {
    {1, 1, 1, 1, 1, 0},        {1, 16, 1, 1, 1, 0},        {1, 17, 2, 1, 1, 0},        {1, 40, 6, 3, 1, 0},
    {2, 15, 3, 1, 1, 0},       {3, 3, 2, 2, 1, 0},         {7, 40, 4, 2, 1, 0},        {7, 33, 6, 1, 0, 0},
    {5, 40, 3, 3, 1, 1},       {7, 40, 6, 2, 1, 6},        {7, 40, 2, 2, 1, 17},       {4, 31, 2, 1, 0, 4},
    {7, 4, 2, 1, 1, 0},        {2, 0, 2, 1, 1, 0},         {3, 40, 1, 1, 0, 40},       {3, 40, 2, 1, 1, INT32_MAX},
    {5, FAR_KEYS, 1, 1, 1, 8}, {7, FAR_KEYS, 1, 1, 1, 20}, {7, FAR_KEYS, 2, 1, 1, 20},
};

static float q[MOST_TOKENS * MOST_HEADS * DIM], k[MOST_KEY_ROWS * DIM], v[MOST_KEY_ROWS * DIM];
static float out[MOST_TOKENS * MOST_HEADS * DIM + GUARD], lse[MOST_TOKENS * MOST_HEADS + GUARD], weights[MOST_KEYS];
static unsigned char workspace[GYRE_ATTENTION_F32_D64_WORKSPACE + GUARD]; /* a row's kernel takes no more */
static const float guard = 1234.5f; /* what is behind the results, and must stay there */

/** e^x, for -80 < x < 80: of x / 64 by its series, then squared six times. */
static float exponential(float x) {
    double term = 1, sum = 1; /* six squares lose as many bits */
    for (int i = 1; i < 12; i++) {
        term *= (double)x / 64 / i;
        sum += term;
    }
    for (int i = 0; i < 6; i++) sum *= sum;
    return (float)sum;
}

static int is_visible(const shape *s, int32_t token, int32_t key) {
    const int32_t position = s->keys - s->tokens + token;
    return !(s->causal && key > position) && !(s->window && key <= position - s->window);
}

/** The largest error of one row, and of its sum of weights, relative to it. */
static float row_error(const shape *s, int32_t token, int32_t head) {
    const int32_t row = token * s->heads + head, kv_head = head / (s->heads / s->kv_heads);
    float sum = 0, error = 0;
    for (int32_t key = 0; key < s->keys; key++) {
        float score = 0;
        for (int32_t d = 0; d < DIM; d++) score += q[row * DIM + d] * k[(key * s->kv_heads + kv_head) * DIM + d];
        weights[key] = is_visible(s, token, key) ? exponential(score / 8) : 0;
        sum += weights[key];
    }
    const float found = lse[head * s->tokens + token];
    if (sum > 0)
        error = distance(exponential(found) / sum, 1);
    else if (!(found < -1e38f))
        return 1;
    for (int32_t d = 0; d < DIM; d++) {
        float expected = 0;
        for (int32_t key = 0; key < s->keys; key++)
            expected += weights[key] * v[(key * s->kv_heads + kv_head) * DIM + d];
        error = larger(distance(out[row * DIM + d], sum > 0 ? expected / sum : 0), error);
    }
    return error;
}

/** Writes what is behind results and workspace if told 1, and tells whether it is still there if told 0. */
static int guards(const shape *s, int write) {
    float *const behind[] = {out + s->tokens * s->heads * DIM, lse + s->tokens * s->heads};
    int same = 1;
    for (int i = 0; i < GUARD; i++) {
        unsigned char *byte = workspace + GYRE_ATTENTION_F32_D64_WORKSPACE + i;
        for (int n = 0; n < 2; n++) {
            if (write) behind[n][i] = guard;
            same &= behind[n][i] == guard;
        }
        if (write) *byte = 0x5a;
        same &= *byte == 0x5a;
    }
    return same;
}

static gyre_embedded_attention_args described(const shape *s) {
    const gyre_embedded_attention_args args = {.size = sizeof args,
                                               .kernel = &gyre_attention_f32_d64,
                                               .q = q,
                                               .k = k,
                                               .v = v,
                                               .out = out,
                                               .lse = lse,
                                               .tokens = s->tokens,
                                               .keys = s->keys,
                                               .num_heads = s->heads,
                                               .num_kv_heads = s->kv_heads,
                                               .head_dim = DIM,
                                               .causal = s->causal,
                                               .window = s->window,
                                               .workspace = workspace,
                                               .workspace_size = GYRE_ATTENTION_F32_D64_WORKSPACE};
    return args;
}

static float shape_error(const shape *s, const gyre_embedded_attention_args *args) {
    const uint32_t q_size = (uint32_t)(s->tokens * s->heads * DIM), k_size = (uint32_t)(s->keys * s->kv_heads * DIM);
    float error = 0;
    fill(q, TENSOR_Q, 0, q_size);
    fill(k, TENSOR_K, 0, k_size);
    fill(v, TENSOR_V, 0, k_size);
    guards(s, 1);
    if (gyre_embedded_attention(args) != GYRE_EMBEDDED_OK) return 1;
    for (int32_t token = 0; token < s->tokens; token++)
        for (int32_t head = 0; head < s->heads; head++) error = larger(row_error(s, token, head), error);

    gyre_embedded_attention_args in_place = *args;
    in_place.out = q;
    in_place.lse = NULL;
    if (gyre_embedded_attention(&in_place) != GYRE_EMBEDDED_OK || !guards(s, 0)) return 1;
    for (uint32_t i = 0; i < q_size; i++) error = q[i] != out[i] ? 1 : error;
    return error;
}

/** Does the same with a kernel for single rows; no row's bits depend on how many tokens there are. */
static float row_kernel_error(const shape *s) {
    gyre_embedded_attention_args args = described(s);
    args.row_kernel = &gyre_attention_row_f32_d64;
    const float error = shape_error(s, &args);
    const size_t row = (size_t)(s->heads * DIM);
    const float *last = out + (size_t)(s->tokens - 1) * row;
    float *alone = q + (size_t)(s->tokens - 1) * row;
    fill(q, TENSOR_Q, 0, (uint32_t)(s->tokens * s->heads * DIM));
    args.q = alone;
    args.out = alone;
    args.lse = NULL;
    args.tokens = 1;
    if (gyre_embedded_attention(&args) != GYRE_EMBEDDED_OK) return 1;
    for (size_t i = 0; i < row; i++)
        if (alone[i] != last[i]) return 1;
    return error;
}

int try_shapes(void) {
    float error = 0, of_rows = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const gyre_embedded_attention_args args = described(&shapes[i]);
        error = larger(shape_error(&shapes[i], &args), error);
        of_rows = larger(row_kernel_error(&shapes[i]), of_rows);
    }
    const int failures = report_error("19 shapes of attention, rows that see no key, lse, and in place", error, 4e-6f);
    return failures + report_error("the same with a kernel for one row, and the last token alone", of_rows, 4e-6f);
}
