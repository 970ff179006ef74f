/* One step of decoding on a Cortex-M55: rotary attention of a query over a cache, without heap, threads or C library. */
#include <gyre/embedded_kernels.h>

enum { HEAD_DIM = 32, HEADS = 2, CAPACITY = 64 };

static float k_cache[CAPACITY][HEADS][HEAD_DIM], v_cache[CAPACITY][HEADS][HEAD_DIM];
static unsigned char workspace[GYRE_ATTENTION_F32_D32_WORKSPACE];

int attend(const float q[HEADS][HEAD_DIM], float out[HEADS][HEAD_DIM], int32_t keys, const float *angles);

int attend(const float q[HEADS][HEAD_DIM], float out[HEADS][HEAD_DIM], int32_t keys, const float *angles) {
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    args.kernel = &gyre_attention_f32_d32;
    args.q = q;
    args.k = k_cache;
    args.v = v_cache;
    args.out = out;
    args.tokens = 1;
    args.keys = keys;
    args.num_heads = HEADS;
    args.num_kv_heads = HEADS;
    args.head_dim = HEAD_DIM;
    args.causal = 1;
    args.rotary_dim = HEAD_DIM;
    args.rotary_v_dim = HEAD_DIM;
    args.q_angles = angles;
    args.out_angles = angles;
    args.workspace = workspace;
    args.workspace_size = sizeof workspace;
    return gyre_embedded_attention(&args);
}
