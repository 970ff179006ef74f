/* Attention over parts of the keys, merged, against attention over all of them; sinks; what is refused. */
#include <gyre/embedded_kernels.h>

#include "demo.h"
#include "inputs.h"
#include "report.h"

enum { DIM = 64, ROWS = 3, ALL = 40, FIRST = 13, SIZE = ROWS * DIM };

static float q[SIZE], k[ALL * DIM], v[ALL * DIM], whole[SIZE], whole_lse[ROWS], some[3][SIZE], some_lse[3][ROWS],
    out[SIZE], lse[ROWS];
static unsigned char merge_workspace[GYRE_ATTENTION_F32_D64_WORKSPACE];

static int attend(int32_t first, int32_t keys, float *result, float *result_lse) {
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    args.kernel = &gyre_attention_f32_d64;
    args.q = q;
    args.k = k + first * DIM;
    args.v = v + first * DIM;
    args.out = result;
    args.lse = result_lse;
    args.tokens = 1;
    args.keys = keys;
    args.num_heads = ROWS;
    args.num_kv_heads = 1;
    args.head_dim = DIM;
    args.scale = 1; /* scores of some size */
    args.workspace = merge_workspace;
    args.workspace_size = sizeof merge_workspace;
    return gyre_embedded_attention(&args);
}

static float apart(const float *a, const float *b, int32_t count) {
    float error = 0;
    for (int32_t i = 0; i < count; i++) error = larger(distance(a[i], b[i]), error);
    return error;
}

static int try_parts(void) {
    int bad = attend(0, ALL, whole, whole_lse);
    bad |= attend(0, FIRST, some[0], some_lse[0]);
    bad |= attend(FIRST, 0, some[1], some_lse[1]); /* no keys: zeros, and -inf */
    bad |= attend(FIRST, ALL - FIRST, some[2], some_lse[2]);
    const gyre_embedded_part parts[] = {{some[0], some_lse[0]}, {some[1], some_lse[1]}, {some[2], some_lse[2]}};
    bad |= gyre_embedded_attention_merge(parts, 3, 1, ROWS, DIM, out, lse);
    int failures = report_error("attention over parts of the keys, merged", bad ? 1 : apart(out, whole, SIZE), 1e-6f);
    failures += report_error("  its logarithms", apart(lse, whole_lse, ROWS), 2e-6f);
    bad |= gyre_embedded_attention_merge(parts, 3, 1, ROWS, DIM, some[0], some_lse[0]);
    failures += report_error("  in place of a part", bad ? 1 : apart(some[0], out, SIZE), 0);
    bad |= gyre_embedded_attention_merge(parts + 1, 1, 1, ROWS, DIM, out, lse);
    int empty = !bad;
    for (int32_t i = 0; i < SIZE; i++) empty &= out[i] == 0;
    for (int32_t i = 0; i < ROWS; i++) empty &= lse[i] < -1e38f && lse[i] == lse[i] * 2;
    return failures + report("  of no keys", empty);
}

/** A sink whose score is a row's lse halves the row. One far below changes nothing; one far above leaves nothing. */
static int try_sinks(void) {
    static const float beside[ROWS] = {0, -100, 100};
    static const float kept[ROWS] = {0.5f, 1, 0};
    float sink[ROWS], expected[SIZE], expected_lse[ROWS];
    for (int32_t i = 0; i < ROWS; i++) {
        sink[i] = whole_lse[i] + beside[i];
        expected_lse[i] = beside[i] > 0 ? sink[i] : whole_lse[i] + (beside[i] < 0 ? 0 : 0.693147181f);
    }
    for (int32_t i = 0; i < SIZE; i++) expected[i] = kept[i / DIM] * whole[i];
    const gyre_embedded_part parts[] = {{NULL, sink}, {whole, whole_lse}};
    const int bad = gyre_embedded_attention_merge(parts, 2, 1, ROWS, DIM, out, lse);
    return report_error("sinks", bad ? 1 : apart(out, expected, SIZE), 1e-6f) +
           report_error("  their logarithms", apart(lse, expected_lse, ROWS), 1e-5f);
}

static int try_refusals(void) {
    const gyre_embedded_part part = {whole, whole_lse}, none = {whole, NULL};
    const gyre_embedded_part crossed = {whole, out}, behind = {whole + 1, whole_lse};
    int refused = 1;
    refused &= gyre_embedded_attention_merge(NULL, 1, 1, ROWS, DIM, out, lse) == GYRE_EMBEDDED_BAD_ARGUMENT;
    refused &= gyre_embedded_attention_merge(&part, 0, 1, ROWS, DIM, out, lse) == GYRE_EMBEDDED_BAD_ARGUMENT;
    refused &= gyre_embedded_attention_merge(&part, 9, 1, ROWS, DIM, out, lse) == GYRE_EMBEDDED_BAD_ARGUMENT;
    refused &= gyre_embedded_attention_merge(&none, 1, 1, ROWS, DIM, out, lse) == GYRE_EMBEDDED_BAD_ARGUMENT;
    refused &= gyre_embedded_attention_merge(&crossed, 1, 1, ROWS, DIM, out, lse) == GYRE_EMBEDDED_BAD_ARGUMENT;
    refused &= gyre_embedded_attention_merge(&behind, 1, 1, ROWS, DIM, whole, lse) == GYRE_EMBEDDED_BAD_ARGUMENT;
    refused &= gyre_embedded_attention_merge(&part, 1, 1, ROWS, DIM, out, out) == GYRE_EMBEDDED_BAD_ARGUMENT;
    refused &= gyre_embedded_attention_merge(&part, 1, 1, ROWS, DIM, NULL, lse) == GYRE_EMBEDDED_BAD_ARGUMENT;
    refused &= gyre_embedded_attention_merge(&part, 1, -1, ROWS, DIM, out, lse) == GYRE_EMBEDDED_BAD_SHAPE;
    refused &= gyre_embedded_attention_merge(&part, 1, 1, ROWS, 513, out, lse) == GYRE_EMBEDDED_BAD_SHAPE;
    return report("  wrong arguments are refused", refused);
}

int try_merge(void) {
    fill(q, TENSOR_Q, 0, SIZE);
    fill(k, TENSOR_K, 0, ALL * DIM);
    fill(v, TENSOR_V, 0, ALL * DIM);
    return try_parts() + try_sinks() + try_refusals();
}
