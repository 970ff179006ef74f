/* One call of attention by gyre_embedded and the same by plain C loops, for a script that counts their instructions: TOKENS queries of 4 heads on
 * KV_HEADS, KEYS keys. */
#include <gyre/embedded_kernels.h>

#include "../boards/board.h"
#include "../demo/inputs.h"
#include "../demo/report.h"
#include "plain.h"

enum { HEADS = 4, PAIRS = PLAIN_DIM / 2, ROW = HEADS * PLAIN_DIM };

static float q[TOKENS * ROW], out[TOKENS * ROW], plain[TOKENS * ROW];
static float k[KEYS * ROW], v[KEYS * ROW], angles[TOKENS * PLAIN_DIM];
static unsigned char workspace[GYRE_ATTENTION_F32_D64_WORKSPACE];

int demo(void) {
    static uint64_t frequencies[PAIRS];
    int failures = gyre_embedded_frequencies(10000, PLAIN_DIM, frequencies) +
                   gyre_embedded_angles(frequencies, PAIRS, 0, TOKENS, 1, angles);
    fill(q, TENSOR_Q, 0, sizeof q / sizeof q[0]);
    fill(k, TENSOR_K, 0, sizeof k / sizeof k[0]);
    fill(v, TENSOR_V, 0, sizeof v / sizeof v[0]);
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    args.kernel = &gyre_attention_f32_d64;
    args.row_kernel = TOKENS == 1 ? &gyre_attention_row_f32_d64 : NULL;
    args.q = q;
    args.k = k;
    args.v = v;
    args.out = out;
    args.tokens = TOKENS;
    args.keys = KEYS;
    args.num_heads = HEADS;
    args.num_kv_heads = KV_HEADS;
    args.head_dim = PLAIN_DIM;
    args.causal = 1;
    args.rotary_dim = PLAIN_DIM;
    args.rotary_v_dim = PLAIN_DIM;
    args.q_angles = angles;
    args.out_angles = angles;
    args.workspace = workspace;
    args.workspace_size = sizeof workspace;
    failures += gyre_embedded_attention(&args);
    plain_attention(q, k, v, plain, TOKENS, KEYS, HEADS, KV_HEADS, angles);
    float error = 0;
    for (int32_t i = 0; i < TOKENS * ROW; i++) error = larger(distance(out[i], plain[i]), error);
    failures += report_error("attention beside plain C", error, 1e-5f);
    return failures != 0;
}
