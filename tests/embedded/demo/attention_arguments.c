#include "arguments.h"

int wrong_attention(void) {
    const gyre_embedded_attention_args good = {.size = sizeof good,
                                               .kernel = &gyre_attention_f32_d64,
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
                                               .rotary_dim = DIM,
                                               .rotary_v_dim = DIM,
                                               .q_angles = &angle_table[0][0][0],
                                               .out_angles = &angle_table[0][0][0],
                                               .workspace = writable.as.workspace,
                                               .workspace_size = WORKSPACE};
    gyre_embedded_attention_kernel of_larger_blocks = gyre_attention_row_f32_d64;
    of_larger_blocks.key_block *= 2;
    int wrong = 0;
    wrong += refused(gyre_embedded_attention(NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
    REFUSE(attention, size = 0, size, BAD_ARGUMENT);
    REFUSE(attention, size += 4, size, BAD_ARGUMENT);
    REFUSE(attention, kernel = NULL, kernel, BAD_ARGUMENT);
    REFUSE(attention, row_kernel = a.kernel, row_kernel, BAD_ARGUMENT); /* which is for two rows */
    REFUSE(attention, row_kernel = &gyre_attention_row_f16_d64, row_kernel, BAD_ARGUMENT);
    REFUSE(attention, row_kernel = &of_larger_blocks, row_kernel, BAD_ARGUMENT);
    REFUSE(attention, q = NULL, q, BAD_ARGUMENT);
    REFUSE(attention, k = NULL, k, BAD_ARGUMENT);
    REFUSE(attention, v = NULL, v, BAD_ARGUMENT);
    REFUSE(attention, out = NULL, out, BAD_ARGUMENT);
    REFUSE(attention, q_angles = NULL, q_angles, BAD_ARGUMENT);
    REFUSE(attention, out_angles = NULL, out_angles, BAD_ARGUMENT);
    REFUSE(attention, workspace = NULL, workspace, BAD_ARGUMENT);
    REFUSE(attention, k = (const char *)readable + 1, k, BAD_ARGUMENT);
    REFUSE(attention, lse = (float *)(void *)((char *)writable.as.lse + 2), lse, BAD_ARGUMENT);
    REFUSE(attention, k = writable.as.out, k, BAD_ARGUMENT);
    REFUSE(attention, q = writable.as.out + 1, q, BAD_ARGUMENT);
    REFUSE(attention, q = a.v = writable.as.out, v, BAD_ARGUMENT); /* out may be q, but not v */
    REFUSE(attention, lse = writable.as.out + 4, lse, BAD_ARGUMENT);
    REFUSE(attention, workspace = writable.as.out, workspace, BAD_ARGUMENT);
    REFUSE(attention, q_angles = writable.as.lse, q_angles, BAD_ARGUMENT);
    REFUSE(attention, k_scales = readable, k_scales, BAD_ARGUMENT); /* which this kernel does not read */
    REFUSE(attention, kernel = &gyre_attention_f32_i8_d64, k_scales, BAD_ARGUMENT);
    REFUSE(attention, kernel = &gyre_attention_f32_i8_d64; a.k_scales = readable, v_scales, BAD_ARGUMENT);
    REFUSE(attention, kernel = &gyre_attention_f32_i8_d64;
           a.k_scales = a.v_scales = writable.as.lse, k_scales, BAD_ARGUMENT);
    REFUSE(attention, softcap = 1, softcap, BAD_ARGUMENT); /* which this kernel cannot */
    REFUSE(attention, kernel = &gyre_attention_capped_f32_d64; a.softcap = -1, softcap, BAD_ARGUMENT);
    REFUSE(attention, kernel = &gyre_attention_capped_f32_d64; a.softcap = 1e38f * 10, softcap, BAD_ARGUMENT);
    REFUSE(attention, row_kernel = &gyre_attention_row_capped_f32_d64, row_kernel, BAD_ARGUMENT);
    REFUSE(attention, causal = 5, causal, BAD_ARGUMENT);
    REFUSE(attention, causal = -1, causal, BAD_ARGUMENT);
    REFUSE(attention, head_scales = 2, head_scales, BAD_ARGUMENT);
    REFUSE(attention, scale = 1e38f * 10, scale, BAD_ARGUMENT);
    REFUSE(attention, window = -1, window, BAD_ARGUMENT);
    REFUSE(attention, pairing = 2, pairing, BAD_ARGUMENT);
    REFUSE(attention, value_pairing = 3, value_pairing, BAD_ARGUMENT);
    REFUSE(attention, tokens = -1, tokens, BAD_SHAPE);
    REFUSE(attention, keys = -1, keys, BAD_SHAPE);
    REFUSE(attention, keys = INT32_MAX, keys, BAD_SHAPE);
    REFUSE(attention, num_heads = 3, num_kv_heads, BAD_SHAPE);
    REFUSE(attention, num_kv_heads = 0, num_kv_heads, BAD_SHAPE);
    REFUSE(attention, head_dim = 32, head_dim, BAD_SHAPE);
    REFUSE(attention, rotary_dim = 63, rotary_dim, BAD_SHAPE);
    REFUSE(attention, rotary_v_dim = 66, rotary_v_dim, BAD_SHAPE);
    REFUSE(attention, rotary_dim = -2, rotary_dim, BAD_SHAPE);
    REFUSE(attention, workspace_size = LEAST_WORKSPACE - 1, workspace_size, WORKSPACE_TOO_SMALL);
    REFUSE(attention, workspace_size = 0, workspace_size, WORKSPACE_TOO_SMALL);
    ACCEPT(attention, tokens = 0); /* nothing to do */
    ACCEPT(attention, num_heads = 0);
    return wrong;
}
