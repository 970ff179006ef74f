/* One step of decoding, and nothing else. Two tokens of equal keys: the result is the mean of their values. */
#include <gyre/embedded_kernels.h>

#include "../boards/board.h"

#ifdef UNCHECKED
#define CALL(name) name##_unchecked
#else
#define CALL(name) name
#endif

enum { DIM = 64, PAIRS = DIM / 2, HEADS = 4, KV_HEADS = 2, TOKENS = 2 };

static float k_cache[TOKENS][KV_HEADS][DIM], v_cache[TOKENS][KV_HEADS][DIM], q[HEADS][DIM], out[HEADS][DIM],
    angles[2][PAIRS];
static unsigned char workspace[GYRE_ATTENTION_ROW_F32_D64_WORKSPACE];

static gyre_embedded_status append(const void *x, void *to) {
    gyre_embedded_rotary_args args = gyre_embedded_rotary_defaults();
    args.kernel = &gyre_rotary_f32_half;
    args.tokens = 1;
    args.heads = KV_HEADS;
    args.head_dim = DIM;
    args.rotary_dim = DIM;
    args.angles = angles;
    args.x = x;
    args.out = to;
    return CALL(gyre_embedded_rotary)(&args);
}

static gyre_embedded_status attend(int32_t keys) {
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    args.kernel = &gyre_attention_row_f32_d64; /* rows one by one: the smallest */
    args.tokens = 1;
    args.keys = keys;
    args.num_heads = HEADS;
    args.num_kv_heads = KV_HEADS;
    args.head_dim = DIM;
    args.causal = 1;
    args.rotary_dim = DIM;
    args.q = q;
    args.k = k_cache;
    args.v = v_cache;
    args.out = out;
    args.q_angles = &angles[0][0];
    args.workspace = workspace;
    args.workspace_size = sizeof workspace;
    return CALL(gyre_embedded_attention)(&args);
}

int demo(void) {
    static uint64_t frequencies[PAIRS]; /* none: no token is rotated */
    int bad = gyre_embedded_angles(frequencies, PAIRS, 0, 1, 1, &angles[0][0]);
    for (int32_t token = 0; token < TOKENS; token++) {
        for (int32_t i = 0; i < KV_HEADS * DIM; i++) v_cache[token][i / DIM][i % DIM] = 1 + 2 * (float)token;
        bad |= append(k_cache[token], k_cache[token]);
    }
    bad |= attend(TOKENS);
    for (int32_t i = 0; i < HEADS * DIM; i++)
        bad |= !(out[i / DIM][i % DIM] > 1.999f && out[i / DIM][i % DIM] < 2.001f);
    return bad;
}
