/* One call executes as many instructions whatever finite numbers its tensors hold. */
#include <gyre/embedded_kernels.h>

#include "../boards/board.h"
#include "../demo/inputs.h"
#include "../demo/report.h"

enum { DIM = 64, PAIRS = DIM / 2, TOKENS = 5, KEYS = 40, HEADS = 3, REPEATS = 8 };

static float q[TOKENS][HEADS][DIM], out[TOKENS][HEADS][DIM], k[KEYS][DIM], v[KEYS][DIM];
static int8_t k8[KEYS][DIM], v8[KEYS][DIM];
static float k_scales[KEYS], v_scales[KEYS], lse[HEADS][TOKENS], angles[TOKENS][2][PAIRS];
static unsigned char workspace[GYRE_ATTENTION_F32_D64_WORKSPACE + GYRE_ATTENTION_F32_I8_D64_WORKSPACE];
static int bad;

/** 0: numbers in [-1, 1); 1: zeros; 2: up to 1e15; 3: subnormal numbers; 4: negative ones, all alike. */
enum { KINDS = 5 };
static const char *const names[KINDS] = {"usual numbers", "zeros", "numbers up to 1e15", "subnormal numbers",
                                         "equal numbers"};

static void fill_with(int kind, float *x, uint32_t tensor, uint32_t count) {
    static const float factors[KINDS] = {1, 0, 1e15f, 1e-40f, 0};
    fill(x, tensor, 0, count);
    for (uint32_t i = 0; i < count; i++) x[i] = x[i] * factors[kind] + (kind == 4 ? -3.0f : 0.0f);
}

static void attend(int is_i8, int rows) {
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    args.kernel = is_i8 ? &gyre_attention_f32_i8_d64 : &gyre_attention_f32_d64;
    args.q = q;
    args.k = is_i8 ? (const void *)k8 : k;
    args.v = is_i8 ? (const void *)v8 : v;
    args.k_scales = is_i8 ? k_scales : NULL;
    args.v_scales = is_i8 ? v_scales : NULL;
    args.out = out;
    args.lse = &lse[0][0];
    args.tokens = rows;
    args.keys = KEYS;
    args.num_heads = HEADS;
    args.num_kv_heads = 1;
    args.head_dim = DIM;
    args.causal = 1;
    args.rotary_dim = DIM;
    args.rotary_v_dim = DIM;
    args.q_angles = &angles[0][0][0];
    args.out_angles = &angles[0][0][0];
    args.workspace = workspace;
    args.workspace_size = sizeof workspace;
    bad |= gyre_embedded_attention(&args);
}

static void decode_f32(void) { attend(0, 1); }
static void prefill_f32(void) { attend(0, TOKENS); }
static void decode_i8(void) { attend(1, 1); }

static void rotate(void) {
    gyre_embedded_rotary_args args = gyre_embedded_rotary_defaults();
    args.kernel = &gyre_rotary_f32_half;
    args.tokens = TOKENS;
    args.heads = HEADS;
    args.head_dim = DIM;
    args.rotary_dim = DIM;
    args.angles = angles;
    args.x = q;
    args.out = out;
    bad |= gyre_embedded_rotary(&args);
}

/** Counts several calls, so that a few instructions more in each are seen in spite of a counter's ticks. */
static uint32_t count(void (*call)(void)) {
    const uint32_t start = board_instructions();
    for (int i = 0; i < REPEATS; i++) call();
    return board_instructions() - start;
}

static int compare(const char *what, void (*call)(void)) {
    int failures = 0;
    uint32_t usual = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        fill_with(kind, &q[0][0][0], TENSOR_Q, TOKENS * HEADS * DIM);
        fill_with(kind, &k[0][0], TENSOR_K, KEYS * DIM);
        fill_with(kind, &v[0][0], TENSOR_V, KEYS * DIM);
        bad |= gyre_embedded_quantize(&k[0][0], KEYS, DIM, &k8[0][0], k_scales);
        bad |= gyre_embedded_quantize(&v[0][0], KEYS, DIM, &v8[0][0], v_scales);
        const uint32_t instructions = count(call);
        if (kind == 0) usual = instructions;
        const uint32_t apart = instructions > usual ? instructions - usual : usual - instructions;
        report_number(what, instructions);
        failures += report(names[kind], apart <= 2 * board_tick);
    }
    return failures;
}

int demo(void) {
    static uint64_t frequencies[PAIRS];
    bad = gyre_embedded_frequencies(10000, DIM, frequencies);
    bad |= gyre_embedded_angles(frequencies, PAIRS, 7, TOKENS, 1, &angles[0][0][0]);
    int failures = compare("decoding in f32", decode_f32);
    failures += compare("a prefill in f32", prefill_f32);
    failures += compare("decoding on a cache of int8", decode_i8);
    failures += compare("rotary", rotate);
    return report("every call succeeded", bad == 0) + failures != 0;
}
