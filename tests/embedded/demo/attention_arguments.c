#include "arguments.h"

int wrong_attention(void) {
    const gyre_embedded_attention_args good = {.kernel = &gyre_attention_f32_d64,
                                               .q = readable,
                                               .k = readable,
                                               .v = readable,
                                               .out = writable.as.out,
                                               .lse = writable.as.lse,
                                               .tokens = TOKENS,
                                               .keys = TOKENS,
                                               .num_heads = HEADS,
                                               .num_kv_heads = HEADS,
                                               .head_dim = DIM,
                                               .causal = 1,
                                               .window_left = -1,
                                               .rotary_dim = DIM,
                                               .rotary_v_dim = DIM,
                                               .q_angles = &angle_table[0][0][0],
                                               .out_angles = &angle_table[0][0][0],
                                               .workspace = writable.as.workspace,
                                               .workspace_size = WORKSPACE};
    int wrong = 0;
    wrong += refused(gyre_embedded_attention(NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
    REFUSE(attention, kernel = NULL, BAD_ARGUMENT);
    REFUSE(attention, q = NULL, BAD_ARGUMENT);
    REFUSE(attention, k = NULL, BAD_ARGUMENT);
    REFUSE(attention, v = NULL, BAD_ARGUMENT);
    REFUSE(attention, out = NULL, BAD_ARGUMENT);
    REFUSE(attention, q_angles = NULL, BAD_ARGUMENT);
    REFUSE(attention, out_angles = NULL, BAD_ARGUMENT);
    REFUSE(attention, workspace = NULL, BAD_ARGUMENT);
    REFUSE(attention, k = (const char *)readable + 1, BAD_ARGUMENT);
    REFUSE(attention, lse = (float *)(void *)((char *)writable.as.lse + 2), BAD_ARGUMENT);
    REFUSE(attention, k = writable.as.out, BAD_ARGUMENT);
    REFUSE(attention, q = writable.as.out + 1, BAD_ARGUMENT);
    REFUSE(attention, q = a.v = writable.as.out, BAD_ARGUMENT); /* out may be q, but not v */
    REFUSE(attention, lse = writable.as.out + 4, BAD_ARGUMENT);
    REFUSE(attention, workspace = writable.as.out, BAD_ARGUMENT);
    REFUSE(attention, q_angles = writable.as.lse, BAD_ARGUMENT);
    REFUSE(attention, k_scales = readable, BAD_ARGUMENT); /* which this kernel does not read */
    REFUSE(attention, kernel = &gyre_attention_f32_i8_d64, BAD_ARGUMENT);
    REFUSE(attention, kernel = &gyre_attention_f32_i8_d64; a.k_scales = readable, BAD_ARGUMENT);
    REFUSE(attention, kernel = &gyre_attention_f32_i8_d64; a.k_scales = a.v_scales = writable.as.lse, BAD_ARGUMENT);
    REFUSE(attention, scale = 1e38f * 10, BAD_ARGUMENT);
    REFUSE(attention, window_left = -2, BAD_ARGUMENT);
    REFUSE(attention, pairing = (gyre_embedded_pairing)2, BAD_ARGUMENT);
    REFUSE(attention, value_pairing = (gyre_embedded_pairing)3, BAD_ARGUMENT);
    REFUSE(attention, tokens = -1, BAD_SHAPE);
    REFUSE(attention, keys = -1, BAD_SHAPE);
    REFUSE(attention, keys = INT32_MAX, BAD_SHAPE);
    REFUSE(attention, num_heads = 3, BAD_SHAPE);
    REFUSE(attention, num_kv_heads = 0, BAD_SHAPE);
    REFUSE(attention, head_dim = 32, BAD_SHAPE);
    REFUSE(attention, rotary_dim = 63, BAD_SHAPE);
    REFUSE(attention, rotary_v_dim = 66, BAD_SHAPE);
    REFUSE(attention, rotary_dim = -2, BAD_SHAPE);
    REFUSE(attention, workspace_size = WORKSPACE - 1, WORKSPACE_TOO_SMALL);
    REFUSE(attention, workspace_size = 0, WORKSPACE_TOO_SMALL);
    REFUSE(attention, tokens = 0, OK); /* nothing to do */
    REFUSE(attention, num_heads = 0, OK);
    return wrong;
}
