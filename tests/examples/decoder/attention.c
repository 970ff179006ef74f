#include "attention.h"

#include <gyre/embedded_kernels.h>

enum { PAIRS = HEAD_DIM / 2 };

static uint64_t frequencies[PAIRS];
static float angles[CHUNK][2][PAIRS];
static unsigned char workspace[GYRE_ATTENTION_F32_I8_D64_WORKSPACE];

int attention_begin(void) { return gyre_embedded_frequencies(10000, HEAD_DIM, frequencies); }

int attention_angles(int32_t first, int32_t count) {
    return gyre_embedded_angles(frequencies, PAIRS, first, count, 1, &angles[0][0][0]);
}

static int append(float *x, int32_t count, int8_t *out, float *scales) {
    gyre_embedded_rotary_args args = gyre_embedded_rotary_defaults();
    args.kernel = &gyre_rotary_f32_half;
    args.tokens = count;
    args.heads = 1;
    args.head_dim = HEAD_DIM;
    args.rotary_dim = HEAD_DIM;
    args.angles = angles;
    args.x = x;
    args.out = x;
    const int status = gyre_embedded_rotary(&args);
    return status ? status : gyre_embedded_quantize(x, count, HEAD_DIM, out, scales);
}

int attention_of_layer(layer_cache *cache, float *q, float *k, float *v, int32_t first, int32_t count) {
    int status = append(k, count, cache->k[first], cache->k_scales + first);
    if (!status) status = append(v, count, cache->v[first], cache->v_scales + first);
    if (status) return status;
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    args.kernel = &gyre_attention_f32_i8_d64;
    args.tokens = count;
    args.keys = first + count;
    args.num_heads = HEADS;
    args.num_kv_heads = 1;
    args.head_dim = HEAD_DIM;
    args.causal = 1;
    args.rotary_dim = HEAD_DIM;
    args.rotary_v_dim = HEAD_DIM;
    args.q_angles = &angles[0][0][0];
    args.out_angles = &angles[0][0][0];
    args.q = q;
    args.out = q;
    args.k = cache->k;
    args.v = cache->v;
    args.k_scales = cache->k_scales;
    args.v_scales = cache->v_scales;
    args.workspace = workspace;
    args.workspace_size = sizeof workspace;
    return gyre_embedded_attention(&args);
}
