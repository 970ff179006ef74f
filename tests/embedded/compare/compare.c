/* Instructions of gyre_embedded and of plain C loops for the same work, with the same results. */
#include <gyre/embedded_kernels.h>

#include "../boards/board.h"
#include "../demo/inputs.h"
#include "../demo/report.h"
#include "plain.h"

enum { DIM = PLAIN_DIM, PAIRS = DIM / 2, HEADS = 4, MOST_TOKENS = 64, MOST_KEYS = 400 /* of all key heads */ };

static float q[MOST_TOKENS * HEADS * DIM], out[MOST_TOKENS * HEADS * DIM], plain[MOST_TOKENS * HEADS * DIM];
static float k[MOST_KEYS * DIM], v[MOST_KEYS * DIM];
static float angles[MOST_TOKENS][2][PAIRS];
static unsigned char workspace[GYRE_ATTENTION_F32_D64_WORKSPACE];

static int compare(const char *what, uint32_t ours, uint32_t theirs, int32_t size) {
    float error = 0;
    for (int32_t i = 0; i < size; i++) error = larger(distance(out[i], plain[i]), error);
    const int failures = report_error(what, error, 1e-5f);
    report_number("  instructions of gyre", ours);
    report_number("  of plain C by gcc -O3 -ffast-math", theirs);
    report_number("  percent", (ours * 100 + theirs / 2) / theirs);
    return failures;
}

static int compare_attention(const char *what, int32_t tokens, int32_t keys, int32_t kv_heads) {
    const gyre_embedded_attention_args args = {.size = sizeof args,
                                               .kernel = &gyre_attention_f32_d64,
                                               .row_kernel = tokens == 1 ? &gyre_attention_row_f32_d64 : NULL,
                                               .q = q,
                                               .k = k,
                                               .v = v,
                                               .out = out,
                                               .tokens = tokens,
                                               .keys = keys,
                                               .num_heads = HEADS,
                                               .num_kv_heads = kv_heads,
                                               .head_dim = DIM,
                                               .causal = 1,
                                               .rotary_dim = DIM,
                                               .rotary_v_dim = DIM,
                                               .q_angles = &angles[0][0][0],
                                               .out_angles = &angles[0][0][0],
                                               .workspace = workspace,
                                               .workspace_size = sizeof workspace};
    const uint32_t start = board_instructions();
    const int bad = gyre_embedded_attention(&args);
    const uint32_t middle = board_instructions();
    plain_attention(q, k, v, plain, tokens, keys, HEADS, kv_heads, &angles[0][0][0]);
    const uint32_t ours = middle - start, theirs = board_instructions() - middle;
    return bad + compare(what, ours, theirs, tokens * HEADS * DIM) +
           report("  no more than this processor's kernels are known for",
                  ours * 100 <= theirs * (kv_heads == HEADS ? MOST_PERCENT_ALONE : MOST_PERCENT));
}

static int compare_rotary(const char *what, int32_t pairs) {
    const gyre_embedded_rotary_args args = {.size = sizeof args,
                                            .kernel = &gyre_rotary_f32_half,
                                            .x = q,
                                            .out = out,
                                            .tokens = MOST_TOKENS,
                                            .heads = HEADS,
                                            .head_dim = DIM,
                                            .rotary_dim = 2 * pairs,
                                            .angles = &angles[0][0][0]};
    const uint32_t start = board_instructions();
    const int bad = gyre_embedded_rotary(&args);
    const uint32_t middle = board_instructions();
    plain_rotary(q, plain, MOST_TOKENS, HEADS, pairs, &angles[0][0][0]);
    return bad + compare(what, middle - start, board_instructions() - middle, MOST_TOKENS * HEADS * DIM);
}

/** Keys and values of 8 tokens with 2 heads, in 8 bits. */
static int count_quantization(void) {
    enum { ROWS = 2 * 8 * 2 };
    static int8_t quantized[ROWS * DIM];
    static float scales[ROWS];
    const uint32_t start = board_instructions();
    const int bad = gyre_embedded_quantize(q, ROWS, DIM, quantized, scales);
    const uint32_t instructions = board_instructions() - start;
    float error = 0; /* in steps; half of one is rounding */
    for (int32_t i = 0; i < ROWS * DIM; i++)
        error = larger(distance(q[i] / scales[i / DIM], (float)quantized[i]), error);
    report_number("  instructions of quantising 8 tokens", instructions);
    return bad + report_error("32 rows in 8 bits, in steps", error, 0.5001f) +
           report("  no more than this processor is known for", instructions <= MOST_QUANTIZE);
}

/** Keys and values of 8 tokens with 2 heads, rotated and in 8 bits: the kernel of rotary, then quantisation. */
static int count_append(void) {
    enum { TOKENS = 8, KV_HEADS = 2, ROWS = TOKENS * KV_HEADS };
    static int8_t quantized[ROWS * DIM];
    static float scales[ROWS];
    const gyre_embedded_rotary_args args = {.size = sizeof args,
                                            .kernel = &gyre_rotary_f32_half,
                                            .x = k,
                                            .out = out,
                                            .tokens = TOKENS,
                                            .heads = KV_HEADS,
                                            .head_dim = DIM,
                                            .rotary_dim = DIM,
                                            .angles = &angles[0][0][0]};
    int bad = 0;
    const uint32_t start = board_instructions();
    for (int n = 0; n < 2; n++) { /* keys, then values */
        bad += gyre_embedded_rotary(&args);
        bad += gyre_embedded_quantize(out, ROWS, DIM, quantized, scales);
    }
    const uint32_t instructions = board_instructions() - start;
    report_number("  instructions of rotating and quantising 8 tokens", instructions);
    return bad + report("  no more than this processor is known for", instructions <= MOST_APPEND);
}

int demo(void) {
    static uint64_t frequencies[PAIRS];
    int failures = gyre_embedded_frequencies(10000, DIM, frequencies) +
                   gyre_embedded_angles(frequencies, PAIRS, 0, MOST_TOKENS, 1, &angles[0][0][0]);
    fill(q, TENSOR_Q, 0, sizeof q / sizeof q[0]);
    fill(k, TENSOR_K, 0, sizeof k / sizeof k[0]);
    fill(v, TENSOR_V, 0, sizeof v / sizeof v[0]);
    failures += compare_attention("1 query of 4 heads, 36 keys of 2", 1, 36, 2);
    failures += compare_attention("1 query of 4 heads, 200 keys of 2", 1, 200, 2);
    failures += compare_attention("20 queries of 4 heads, 20 keys of 2", 20, 20, 2);
    failures += compare_attention("64 queries of 4 heads, 64 keys of 2", 64, 64, 2);
    failures += compare_attention("1 query of 4 heads, 36 keys of 4", 1, 36, 4);
    failures += compare_attention("1 query of 4 heads, 100 keys of 4", 1, 100, 4);
    failures += compare_attention("20 queries of 4 heads, 20 keys of 4", 20, 20, 4);
    failures += compare_attention("64 queries of 4 heads, 64 keys of 4", 64, 64, 4);
    failures += compare_rotary("rotary of 64 tokens of 4 heads, 32 pairs", PAIRS);
    failures += compare_rotary("rotary of 64 tokens of 4 heads, 16 pairs", PAIRS / 2);
    failures += count_quantization();
    failures += count_append();
    return failures != 0;
}
