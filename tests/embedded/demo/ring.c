/* A sliding window over a cache that is a ring, against a window over a cache of all tokens. */
#include <gyre/embedded_kernels.h>

#include "demo.h"
#include "inputs.h"
#include "report.h"

enum { DIM = 64, RING_HEADS = 3, SLOTS = 5, ALL = 13 };

static float ring_k[SLOTS][DIM], ring_v[SLOTS][DIM], all_k[ALL][DIM], all_v[ALL][DIM];
static float ring_q[RING_HEADS][DIM], ring_out[RING_HEADS][DIM], all_out[RING_HEADS][DIM];
static unsigned char ring_workspace[GYRE_ATTENTION_F32_D64_WORKSPACE];

static int attend(const float *k, const float *v, float *out, int32_t keys, int32_t causal, int32_t window) {
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    args.kernel = &gyre_attention_f32_d64;
    args.q = ring_q;
    args.k = k;
    args.v = v;
    args.out = out;
    args.tokens = 1;
    args.keys = keys;
    args.num_heads = RING_HEADS;
    args.num_kv_heads = 1;
    args.head_dim = DIM;
    args.causal = causal;
    args.window = window;
    args.workspace = ring_workspace;
    args.workspace_size = sizeof ring_workspace;
    return gyre_embedded_attention(&args);
}

int try_ring(void) {
    float error = 0;
    int bad = 0;
    for (int32_t position = 0; position < ALL; position++) {
        const int32_t slot = gyre_embedded_ring_slot(position, SLOTS);
        const uint32_t token = (uint32_t)position;
        fill(&ring_q[0][0], TENSOR_Q, token * RING_HEADS * DIM, RING_HEADS * DIM);
        fill(all_k[position], TENSOR_K, token * DIM, DIM);
        fill(all_v[position], TENSOR_V, token * DIM, DIM);
        fill(ring_k[slot], TENSOR_K, token * DIM, DIM);
        fill(ring_v[slot], TENSOR_V, token * DIM, DIM);
        bad |= attend(&all_k[0][0], &all_v[0][0], &all_out[0][0], position + 1, 1, SLOTS);
        bad |= attend(&ring_k[0][0], &ring_v[0][0], &ring_out[0][0], gyre_embedded_ring_keys(position, SLOTS), 0, 0);
        for (int32_t i = 0; i < RING_HEADS * DIM; i++)
            error = larger(distance((&ring_out[0][0])[i], (&all_out[0][0])[i]), error);
    }
    return report_error("a ring of 5 slots, 13 tokens", bad ? 1 : error, 2e-6f);
}
