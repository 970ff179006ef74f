#include "decode.h"

#include <gyre/embedded_kernels.h>

enum { HEAD_DIM = 64, PAIRS = HEAD_DIM / 2, HEADS = 4, KV_HEADS = 2, TOKENS = 12 };

static float k_cache[TOKENS][KV_HEADS][HEAD_DIM], v_cache[TOKENS][KV_HEADS][HEAD_DIM];
static float near[TOKENS][HEADS][HEAD_DIM], far[TOKENS][HEADS][HEAD_DIM];
static unsigned char workspace[GYRE_ATTENTION_F32_D64_WORKSPACE];

/** What a model would compute: any numbers in [-1, 1). */
static void activate(float *x, int32_t count, uint32_t seed) {
    for (int32_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)(seed >> 8) * (1.0f / 8388608) - 1;
    }
}

static int decode(int32_t first_position, float out[TOKENS][HEADS][HEAD_DIM]) {
    static uint64_t frequencies[PAIRS];
    static float angles[2][PAIRS], q[HEADS][HEAD_DIM], k[KV_HEADS][HEAD_DIM], v[KV_HEADS][HEAD_DIM];
    int bad = gyre_embedded_frequencies(10000, HEAD_DIM, frequencies);
    for (int32_t token = 0; token < TOKENS; token++) {
        const uint32_t seed = (uint32_t)token * 3;
        activate(&q[0][0], HEADS * HEAD_DIM, seed);
        activate(&k[0][0], KV_HEADS * HEAD_DIM, seed + 1);
        activate(&v[0][0], KV_HEADS * HEAD_DIM, seed + 2);
        bad |= gyre_embedded_angles(frequencies, PAIRS, first_position + token, 1, 1, &angles[0][0]);

        gyre_embedded_rotary_args append = gyre_embedded_rotary_defaults();
        append.kernel = &gyre_rotary_f32_half;
        append.tokens = 1;
        append.heads = KV_HEADS;
        append.head_dim = append.rotary_dim = HEAD_DIM;
        append.angles = &angles[0][0];
        append.x = k;
        append.out = k_cache[token];
        bad |= gyre_embedded_rotary(&append);
        append.x = v;
        append.out = v_cache[token];
        bad |= gyre_embedded_rotary(&append);

        gyre_embedded_attention_args attend = gyre_embedded_attention_defaults();
        attend.kernel = &gyre_attention_f32_d64;
        attend.q = q;
        attend.k = k_cache;
        attend.v = v_cache;
        attend.out = out[token];
        attend.tokens = 1;
        attend.keys = token + 1;
        attend.num_heads = HEADS;
        attend.num_kv_heads = KV_HEADS;
        attend.head_dim = HEAD_DIM;
        attend.causal = 1;
        attend.rotary_dim = attend.rotary_v_dim = HEAD_DIM;
        attend.q_angles = attend.out_angles = &angles[0][0];
        attend.workspace = workspace;
        attend.workspace_size = sizeof workspace;
        bad |= gyre_embedded_attention(&attend);
    }
    return bad;
}

int decode_twice(void) {
    int bad = decode(0, near) | decode(100000, far);
    const float *a = &near[0][0][0], *b = &far[0][0][0];
    for (int32_t i = 0; i < TOKENS * HEADS * HEAD_DIM; i++) bad |= !(a[i] - b[i] < 1e-5f && b[i] - a[i] < 1e-5f);
    return bad;
}
