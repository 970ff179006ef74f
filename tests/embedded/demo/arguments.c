/* Wrong arguments, one at a time: the status that is expected, and not a byte written. */
#include <gyre/embedded_kernels.h>

#include "demo.h"
#include "inputs.h"
#include "report.h"

enum { DIM = 64, TOKENS = 2, HEADS = 2, SIZE = TOKENS * HEADS * DIM, WORKSPACE = GYRE_ATTENTION_F32_D64_WORKSPACE };

static float in[SIZE + 1], table[TOKENS][2][DIM / 2];
static union {
    unsigned char bytes[SIZE * 4 + TOKENS * HEADS * 4 + WORKSPACE];
    struct {
        float out[SIZE], lse[TOKENS * HEADS];
        unsigned char workspace[WORKSPACE];
    } as;
} memory; /* all that a call may write */

static void poison(void) {
    for (size_t i = 0; i < sizeof memory.bytes; i++) memory.bytes[i] = 0x5a;
}

/** 1 if the status is another one, or something was written. */
static int refused(gyre_embedded_status status, gyre_embedded_status expected) {
    int written = 0;
    for (size_t i = 0; i < sizeof memory.bytes; i++) written |= memory.bytes[i] != 0x5a;
    return status != expected || written;
}

static int wrong_attention(void) {
    const gyre_embedded_attention_args good = {.kernel = &gyre_attention_f32_d64,
                                               .q = in,
                                               .k = in,
                                               .v = in,
                                               .out = memory.as.out,
                                               .lse = memory.as.lse,
                                               .tokens = TOKENS,
                                               .keys = TOKENS,
                                               .num_heads = HEADS,
                                               .num_kv_heads = HEADS,
                                               .head_dim = DIM,
                                               .causal = 1,
                                               .window_left = -1,
                                               .rotary_dim = DIM,
                                               .rotary_v_dim = DIM,
                                               .q_angles = &table[0][0][0],
                                               .out_angles = &table[0][0][0],
                                               .workspace = memory.as.workspace,
                                               .workspace_size = WORKSPACE};
    int wrong = 0;
#define REFUSE(change, expected)                                                                                       \
    do {                                                                                                               \
        gyre_embedded_attention_args a = good;                                                                         \
        a.change;                                                                                                      \
        wrong += refused(gyre_embedded_attention(&a), GYRE_EMBEDDED_##expected);                                       \
    } while (0)
    wrong += refused(gyre_embedded_attention(NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
    REFUSE(kernel = NULL, BAD_ARGUMENT);
    REFUSE(q = NULL, BAD_ARGUMENT);
    REFUSE(k = NULL, BAD_ARGUMENT);
    REFUSE(v = NULL, BAD_ARGUMENT);
    REFUSE(out = NULL, BAD_ARGUMENT);
    REFUSE(q_angles = NULL, BAD_ARGUMENT);
    REFUSE(out_angles = NULL, BAD_ARGUMENT);
    REFUSE(workspace = NULL, BAD_ARGUMENT);
    REFUSE(k = (const char *)in + 1, BAD_ARGUMENT);
    REFUSE(lse = (float *)(void *)((char *)memory.as.lse + 2), BAD_ARGUMENT);
    REFUSE(k = memory.as.out, BAD_ARGUMENT);
    REFUSE(q = memory.as.out + 1, BAD_ARGUMENT);
    REFUSE(q = a.v = memory.as.out, BAD_ARGUMENT); /* out may be q, but not v */
    REFUSE(lse = memory.as.out + 4, BAD_ARGUMENT);
    REFUSE(workspace = memory.as.out, BAD_ARGUMENT);
    REFUSE(q_angles = memory.as.lse, BAD_ARGUMENT);
    REFUSE(scale = 1e38f * 10, BAD_ARGUMENT);
    REFUSE(window_left = -2, BAD_ARGUMENT);
    REFUSE(pairing = (gyre_embedded_pairing)2, BAD_ARGUMENT);
    REFUSE(value_pairing = (gyre_embedded_pairing)3, BAD_ARGUMENT);
    REFUSE(tokens = -1, BAD_SHAPE);
    REFUSE(keys = -1, BAD_SHAPE);
    REFUSE(keys = INT32_MAX, BAD_SHAPE);
    REFUSE(num_heads = 3, BAD_SHAPE);
    REFUSE(num_kv_heads = 0, BAD_SHAPE);
    REFUSE(head_dim = 32, BAD_SHAPE);
    REFUSE(rotary_dim = 63, BAD_SHAPE);
    REFUSE(rotary_v_dim = 66, BAD_SHAPE);
    REFUSE(rotary_dim = -2, BAD_SHAPE);
    REFUSE(workspace_size = WORKSPACE - 1, WORKSPACE_TOO_SMALL);
    REFUSE(workspace_size = 0, WORKSPACE_TOO_SMALL);
    REFUSE(tokens = 0, OK); /* nothing to do */
    REFUSE(num_heads = 0, OK);
#undef REFUSE
    return wrong;
}

static int wrong_rotary(void) {
    const gyre_embedded_rotary_args good = {&gyre_rotary_f32_half, in, memory.as.out, TOKENS, HEADS, DIM, DIM, 0,
                                            &table[0][0][0],       0};
    int wrong = 0;
#define REFUSE(change, expected)                                                                                       \
    do {                                                                                                               \
        gyre_embedded_rotary_args a = good;                                                                            \
        a.change;                                                                                                      \
        wrong += refused(gyre_embedded_rotary(&a), GYRE_EMBEDDED_##expected);                                          \
    } while (0)
    wrong += refused(gyre_embedded_rotary(NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
    REFUSE(kernel = NULL, BAD_ARGUMENT);
    REFUSE(x = NULL, BAD_ARGUMENT);
    REFUSE(out = NULL, BAD_ARGUMENT);
    REFUSE(angles = NULL, BAD_ARGUMENT);
    REFUSE(x = memory.as.out + 1, BAD_ARGUMENT);
    REFUSE(angles = memory.as.out, BAD_ARGUMENT);
    REFUSE(x = (const char *)in + 1, BAD_ARGUMENT);
    REFUSE(tokens = -1, BAD_SHAPE);
    REFUSE(heads = INT32_MAX, BAD_SHAPE);
    REFUSE(head_dim = 0, BAD_SHAPE);
    REFUSE(head_dim = 513, BAD_SHAPE);
    REFUSE(rotary_dim = 3, BAD_SHAPE);
    REFUSE(rotary_offset = 2, BAD_SHAPE);
    REFUSE(rotary_offset = -2, BAD_SHAPE);
    REFUSE(heads = 0, OK);
#undef REFUSE
    return wrong;
}

static int wrong_angles(void) {
    const uint64_t one = 1;
    float *out = memory.as.out;
    uint64_t *frequencies = (uint64_t *)(void *)((uintptr_t)(memory.bytes + 7) / 8 * 8);
    int wrong = refused(gyre_embedded_angles(NULL, 1, 0, 1, 1, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_angles(&one, 1, 0, 1, 1, NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_angles(&one, 0, 0, 1, 1, out), GYRE_EMBEDDED_BAD_SHAPE);
    wrong += refused(gyre_embedded_angles(&one, 1, -1, 1, 1, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_angles(&one, 1, INT32_MAX, 2, 1, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_angles(&one, 1, 0, -1, 1, out), GYRE_EMBEDDED_BAD_SHAPE);
    wrong += refused(gyre_embedded_frequencies(1, 2, frequencies), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_frequencies(10000, 3, frequencies), GYRE_EMBEDDED_BAD_SHAPE);
    return wrong + refused(gyre_embedded_frequencies(10000, 2, NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
}

/** Queries before the first key: zeros, and -inf. */
static int nothing_visible(void) {
    const gyre_embedded_attention_args args = {.kernel = &gyre_attention_f32_d64,
                                               .q = in,
                                               .k = in,
                                               .v = in,
                                               .out = memory.as.out,
                                               .lse = memory.as.lse,
                                               .tokens = TOKENS,
                                               .keys = 1,
                                               .num_heads = HEADS,
                                               .num_kv_heads = HEADS,
                                               .head_dim = DIM,
                                               .causal = 1,
                                               .window_left = -1,
                                               .workspace = memory.as.workspace,
                                               .workspace_size = WORKSPACE};
    int wrong = gyre_embedded_attention(&args) != GYRE_EMBEDDED_OK;
    for (int i = 0; i < HEADS * DIM; i++)
        wrong |= memory.as.out[i] != 0 || !(distance(memory.as.out[HEADS * DIM + i], in[i]) < 1e-6f);
    for (int h = 0; h < HEADS; h++)
        wrong |= !(memory.as.lse[h * TOKENS] < -1e38f) || !(memory.as.lse[h * TOKENS + 1] > -1e3f);
    return wrong;
}

int try_arguments(void) {
    fill(in, TENSOR_X, 0, SIZE);
    poison();
    int failures = report("wrong arguments of attention are refused, and nothing is written", wrong_attention() == 0);
    failures += report("those of rotary", wrong_rotary() == 0);
    failures += report("those of angles and frequencies", wrong_angles() == 0);
    return failures + report("rows that see no key are 0", nothing_visible() == 0);
}
