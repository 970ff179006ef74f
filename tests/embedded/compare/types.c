/* Instructions of attention on caches of three types beside those of plain C, MVE's intrinsics and CMSIS-DSP, for a table. */
#include <gyre/embedded_kernels.h>

#include "../boards/board.h"
#include "../demo/half.h"
#include "../demo/inputs.h"
#include "../demo/report.h"
#include "peers.h"

enum { DIM = PLAIN_DIM, PAIRS = DIM / 2, HEADS = 4, TOKENS = 20, KEYS = 100, SIZE = TOKENS * HEADS * DIM };

/* Aligned to vectors: gcc's loops are slow ones where arrays may not be. */
#define TENSOR(type) static __attribute__((aligned(16))) type

TENSOR(float) q[SIZE], out[SIZE], theirs[SIZE], k[KEYS * HEADS * DIM], v[KEYS * HEADS * DIM], angles[TOKENS * DIM];
TENSOR(uint16_t) q16[SIZE], out16[SIZE], k16[KEYS * HEADS * DIM], v16[KEYS * HEADS * DIM];
TENSOR(int8_t) k8[KEYS * HEADS * DIM], v8[KEYS * HEADS * DIM];
static float k_scales[KEYS * HEADS], v_scales[KEYS * HEADS];
enum { HALVES_WORKSPACE = GYRE_ATTENTION_F16_D64_WORKSPACE, I8_WORKSPACE = GYRE_ATTENTION_F32_I8_D64_WORKSPACE };
static unsigned char
    workspace[GYRE_ATTENTION_F32_D64_WORKSPACE + HALVES_WORKSPACE + I8_WORKSPACE]; /* enough for any of them */
static int failures;

static void in_halves(const void *from, void *to, int32_t rows) {
    gyre_embedded_rotary_args args = gyre_embedded_rotary_defaults();
    args.kernel = &gyre_rotary_f32_f16_half; /* nothing is rotated, all is converted */
    args.tokens = 1;
    args.heads = rows;
    args.head_dim = DIM;
    args.x = from;
    args.out = to;
    failures += gyre_embedded_rotary(&args);
}

static gyre_embedded_attention_args ours(const comparison *c) {
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    args.kernel = &gyre_attention_f32_d64;
    args.row_kernel = c->tokens == 1 ? &gyre_attention_row_f32_d64 : NULL;
    args.q = c->q;
    args.k = c->k;
    args.v = c->v;
    args.out = out;
    args.tokens = c->tokens;
    args.keys = c->keys;
    args.num_heads = c->heads;
    args.num_kv_heads = c->kv_heads;
    args.head_dim = DIM;
    args.causal = 1;
    args.rotary_dim = DIM;
    args.rotary_v_dim = DIM;
    args.q_angles = c->angles;
    args.out_angles = c->angles;
    args.workspace = workspace;
    args.workspace_size = sizeof workspace;
    return args;
}

static uint32_t count_ours(const gyre_embedded_attention_args *args) {
    const uint32_t start = board_instructions();
    failures += gyre_embedded_attention(args);
    return board_instructions() - start;
}

typedef void (*attention)(const comparison *c, float *out);

/** What another way takes, and that it gives the same; `ours` is in `out`. */
static void compare(const char *what, uint32_t count, attention other, const comparison *c, float bound) {
    const uint32_t start = board_instructions();
    other(c, theirs);
    const uint32_t others = board_instructions() - start;
    float error = 0;
    for (int32_t i = 0; i < c->tokens * HEADS * DIM; i++) error = larger(distance(out[i], theirs[i]), error);
    failures += report_error(what, error, bound);
    report_number("  instructions", others);
    report_number("  percent of them for gyre", (count * 100 + others / 2) / others);
}

static void plain_of_f32(const comparison *c, float *to) {
    plain_attention(c->q, c->k, c->v, to, c->tokens, c->keys, c->heads, c->kv_heads, c->angles);
}

static void try_f32(comparison c) {
    c.k = k;
    c.v = v;
    const gyre_embedded_attention_args args = ours(&c);
    const uint32_t count = count_ours(&args);
    report_number("gyre f32", count);
    compare("plain f32", count, plain_of_f32, &c, 1e-5f);
#ifdef WITH_MVE
    compare("mve f32", count, mve_of_f32, &c, 1e-5f);
#endif
#ifdef WITH_CMSIS_DSP
    compare("cmsis f32", count, cmsis_of_f32, &c, 1e-5f);
#endif
}

static void try_f16(comparison c) {
    c.k = k16;
    c.v = v16;
    gyre_embedded_attention_args args = ours(&c);
    args.kernel = &gyre_attention_f16_d64;
    args.row_kernel = c.tokens == 1 ? &gyre_attention_row_f16_d64 : NULL;
    args.q = q16;
    args.out = out16;
    const uint32_t count = count_ours(&args);
    for (int32_t i = 0; i < c.tokens * HEADS * DIM; i++) out[i] = from_half(out16[i]);
    report_number("gyre f16", count);
    compare("plain f16", count, plain_of_f16, &c, 2e-3f);
}

static void try_i8(comparison c) {
    c.k = k8;
    c.v = v8;
    c.k_scales = k_scales;
    c.v_scales = v_scales;
    gyre_embedded_attention_args args = ours(&c);
    args.kernel = &gyre_attention_f32_i8_d64;
    args.row_kernel = c.tokens == 1 ? &gyre_attention_row_f32_i8_d64 : NULL;
    args.k_scales = k_scales;
    args.v_scales = v_scales;
    const uint32_t count = count_ours(&args);
    report_number("gyre i8", count);
    compare("plain i8", count, plain_of_i8, &c, 1e-5f);
}

static void try_shape(const char *what, int32_t tokens, int32_t keys, int32_t kv_heads) {
    const comparison c = {
        .q = q, .angles = angles, .tokens = tokens, .keys = keys, .heads = HEADS, .kv_heads = kv_heads};
    report(what, 1);
    try_f32(c);
    try_f16(c);
    try_i8(c);
}

int demo(void) {
    static uint64_t frequencies[PAIRS];
    failures = gyre_embedded_frequencies(10000, DIM, frequencies);
    failures += gyre_embedded_angles(frequencies, PAIRS, 0, TOKENS, 1, angles);
    fill(q, TENSOR_Q, 0, SIZE);
    fill(k, TENSOR_K, 0, KEYS * HEADS * DIM);
    fill(v, TENSOR_V, 0, KEYS * HEADS * DIM);
    in_halves(q, q16, TOKENS * HEADS);
    in_halves(k, k16, KEYS * HEADS);
    in_halves(v, v16, KEYS * HEADS);
    failures += gyre_embedded_quantize(k, KEYS * HEADS, DIM, k8, k_scales);
    failures += gyre_embedded_quantize(v, KEYS * HEADS, DIM, v8, v_scales);
    try_shape("decode 100 keys, 4 heads on 2", 1, 100, 2);
    try_shape("decode 100 keys, 4 heads on 4", 1, 100, 4);
    try_shape("prefill 20, 4 heads on 2", TOKENS, TOKENS, 2);
    try_shape("prefill 20, 4 heads on 4", TOKENS, TOKENS, 4);
    return failures != 0;
}
