#include <gyre/embedded_kernels.h>

#include "../boards/board.h"
#include "demo.h"
#include "golden.h"
#include "half.h"
#include "inputs.h"
#include "report.h"

enum { PAIRS = ROTARY_DIM / 2, V_PAIRS = ROTARY_V_DIM / 2, Q_SIZE = HEADS * HEAD_DIM, K_SIZE = KV_HEADS * HEAD_DIM };

/** The kernels of one type of cache, and what is asked of them. Rotated rows are quantised if it is int8. */
typedef struct cache_type {
    const gyre_embedded_attention_kernel *attention, *row;
    const gyre_embedded_rotary_kernel *append_k, *append_v, *convert; /* from f32; to f32 if it is int8 */
    const char *prefill, *steps;
    float bound;
    int head_scales, is_capped;
} cache_type;

/* They take any type: they are as large as in f32. */
static float k_cache[TOKENS * K_SIZE], v_cache[TOKENS * K_SIZE], q_stored[PREFILL * Q_SIZE], out[PREFILL * Q_SIZE];
static float k_scales[TOKENS * KV_HEADS], v_scales[TOKENS * KV_HEADS];
static float q[PREFILL * Q_SIZE], k[PREFILL * K_SIZE], v[PREFILL * K_SIZE];
static float angles[PREFILL][2][PAIRS], v_angles[PREFILL][2][V_PAIRS];
static uint64_t frequencies[PAIRS], v_frequencies[V_PAIRS];
static union { /* of any of them */
    unsigned char f32[GYRE_ATTENTION_F32_D64_WORKSPACE], f16[GYRE_ATTENTION_F16_D64_WORKSPACE];
    unsigned char i8[GYRE_ATTENTION_F32_I8_D64_WORKSPACE], f32_f16[GYRE_ATTENTION_F32_F16_D64_WORKSPACE];
    unsigned char capped[GYRE_ATTENTION_CAPPED_F32_D64_WORKSPACE],
        capped_i8[GYRE_ATTENTION_CAPPED_F32_I8_D64_WORKSPACE];
#ifdef GYRE_ATTENTION_F32_I8_INTEGER_D64_WORKSPACE
    unsigned char i8_integer[GYRE_ATTENTION_F32_I8_INTEGER_D64_WORKSPACE];
#endif
} workspace;
static int spoiled;                  /* the next queries have a NaN in their first row */
static uint32_t instructions, stack; /* of the last call of attention; stack: of the largest so far */

static const union {
    uint32_t bits;
    float value;
} not_a_number = {0x7fc00000u};

static const float LARGEST = 1.41421357f; /* what rotated numbers of [-1, 1) do not exceed */

static float result(const cache_type *type, int32_t index) {
    const int half = type->attention->dtype == GYRE_EMBEDDED_F16;
    return half ? from_half(((const uint16_t *)(const void *)out)[index]) : out[index];
}

/** Not inlined, so that the stack it measures is the library's. */
__attribute__((noinline)) static int run_attention(const gyre_embedded_attention_args *args) {
    unsigned char here;
    const uint32_t before = board_instructions();
    const int status = gyre_embedded_attention(args);
    instructions = board_instructions() - before;
    stack = (uint32_t)board_stack_used(&here);
    return status;
}

static int rotate(const gyre_embedded_rotary_kernel *kernel, const float *x, void *to, int32_t tokens, int32_t heads,
                  int32_t rotary_dim, const float *table) {
    gyre_embedded_rotary_args args = gyre_embedded_rotary_defaults();
    args.kernel = kernel;
    args.x = x;
    args.out = to;
    args.tokens = tokens;
    args.heads = heads;
    args.head_dim = HEAD_DIM;
    args.rotary_dim = rotary_dim;
    args.angles = table;
    return gyre_embedded_rotary(&args);
}

/** Appends `tokens` after those that the cache holds, and lets them attend. */
static int step(const cache_type *type, int32_t held, int32_t tokens) {
    const int is_i8 = type->attention->cache_dtype == GYRE_EMBEDDED_I8;
    const size_t row = (size_t)(K_SIZE * (type->attention->cache_dtype == GYRE_EMBEDDED_F16 ? 2 : is_i8 ? 1 : 4));
    char *k_end = (char *)k_cache + (size_t)held * row, *v_end = (char *)v_cache + (size_t)held * row;
    const uint32_t first = (uint32_t)held, count = (uint32_t)tokens;
    fill(q, TENSOR_Q, first * Q_SIZE, count * Q_SIZE);
    if (spoiled) q[0] = not_a_number.value;
    fill(k, TENSOR_K, first * K_SIZE, count * K_SIZE);
    fill(v, TENSOR_V, first * K_SIZE, count * K_SIZE);

    int bad = gyre_embedded_angles(frequencies, PAIRS, FIRST_POSITION + held, tokens, 1, &angles[0][0][0]);
    bad |= gyre_embedded_angles(v_frequencies, V_PAIRS, FIRST_POSITION + held, tokens, 1, &v_angles[0][0][0]);
    bad |= rotate(type->append_k, k, is_i8 ? (void *)k : k_end, tokens, KV_HEADS, ROTARY_DIM, &angles[0][0][0]);
    bad |= rotate(type->append_v, v, is_i8 ? (void *)v : v_end, tokens, KV_HEADS, ROTARY_V_DIM, &v_angles[0][0][0]);
    bad |= rotate(type->convert, q, q_stored, tokens, HEADS, 0, NULL);
    if (is_i8 && type->head_scales) {
        for (int32_t head = 0; head < KV_HEADS; head++) k_scales[head] = v_scales[head] = LARGEST / 127;
        bad |= gyre_embedded_quantize_by_head(k, tokens, KV_HEADS, HEAD_DIM, k_scales, (int8_t *)(void *)k_end);
        bad |= gyre_embedded_quantize_by_head(v, tokens, KV_HEADS, HEAD_DIM, v_scales, (int8_t *)(void *)v_end);
    } else if (is_i8) {
        const int32_t rows = tokens * KV_HEADS, at = held * KV_HEADS;
        bad |= gyre_embedded_quantize(k, rows, HEAD_DIM, (int8_t *)(void *)k_end, k_scales + at);
        bad |= gyre_embedded_quantize(v, rows, HEAD_DIM, (int8_t *)(void *)v_end, v_scales + at);
    }

    gyre_embedded_attention_args attend = gyre_embedded_attention_defaults();
    attend.kernel = type->attention;
    attend.row_kernel = type->row;
    attend.q = q_stored;
    attend.k = k_cache;
    attend.v = v_cache;
    attend.out = out;
    attend.tokens = tokens;
    attend.keys = held + tokens;
    attend.num_heads = HEADS;
    attend.num_kv_heads = KV_HEADS;
    attend.head_dim = HEAD_DIM;
    attend.causal = 1;
    attend.rotary_dim = ROTARY_DIM;
    attend.rotary_v_dim = ROTARY_V_DIM;
    attend.value_pairing = GYRE_EMBEDDED_INTERLEAVED;
    attend.q_angles = &angles[0][0][0];
    attend.out_angles = &v_angles[0][0][0];
    attend.workspace = &workspace;
    attend.workspace_size = sizeof workspace;
    attend.head_scales = type->head_scales;
    attend.softcap = type->is_capped ? SOFTCAP : 0;
    if (is_i8) {
        attend.k_scales = k_scales;
        attend.v_scales = v_scales;
    }
    return bad | run_attention(&attend);
}

static float golden(const cache_type *type, int32_t row, int32_t feature) {
    return type->is_capped ? golden_capped[row][feature] : golden_attention[row][feature];
}

static float worst(const cache_type *type, int32_t first, int32_t tokens) {
    float error = 0;
    for (int32_t i = 0; i < tokens * Q_SIZE; i++)
        error = larger(distance(result(type, i), golden(type, first * HEADS + i / HEAD_DIM, i % HEAD_DIM)), error);
    return error;
}

/** The bits of the last token's results, folded into a number. */
static uint32_t fingerprint(const cache_type *type, int32_t token) {
    uint32_t sum = 0;
    for (int32_t i = 0; i < Q_SIZE; i++) {
        const float value = result(type, token * Q_SIZE + i);
        const union {
            float value;
            uint32_t bits;
        } as = {value};
        sum = sum * 31 + as.bits;
    }
    return sum;
}

/** The row with a NaN has no other results, and none of its neighbours has. */
static int try_not_finite(const cache_type *type, int *bad) {
    const uint32_t counted = instructions;
    spoiled = 1;
    *bad |= step(type, TOKENS - 1, 1);
    spoiled = 0;
    instructions = counted;
    int ok = 1;
    for (int32_t i = 0; i < Q_SIZE; i++) {
        const float value = result(type, i); /* f16's NaN is 1.5 times 2^16 to from_half() */
        const int is_nan = value != value || value > 65504 || value < -65504;
        ok &= i < HEAD_DIM
                  ? is_nan
                  : distance(value, golden(type, (TOKENS - 1) * HEADS + i / HEAD_DIM, i % HEAD_DIM)) <= type->bound;
    }
    return report("a NaN stays in its row", ok);
}

static int try_cache(const cache_type *type) {
    int bad = step(type, 0, PREFILL);
    int failures = report_error(type->prefill, worst(type, 0, PREFILL), type->bound);
    const uint32_t together = fingerprint(type, PREFILL - 1);
    if (board_tick) report_number("  instructions of attention, about", instructions);

    bad |= step(type, PREFILL - 1, 1); /* the last of them again, alone */
    failures += report("its last token, alone, has the same bits", fingerprint(type, 0) == together);
    float error = 0;
    for (int32_t token = PREFILL; token < TOKENS; token++) {
        bad |= step(type, token, 1);
        error = larger(worst(type, token, 1), error);
    }
    failures += report_error(type->steps, error, type->bound);
    failures += try_not_finite(type, &bad);
    if (board_tick) report_number("  instructions of the last step's attention, about", instructions);
    return failures + report("every call succeeded", bad == 0);
}

/** Types whose rows are rotated by these kernels; `of` and `each` are what is reported. */
static cache_type cached(const gyre_embedded_attention_kernel *attention, const gyre_embedded_attention_kernel *row,
                         int halves, const char *of, const char *each, float bound) {
    const cache_type type = {
        .attention = attention,
        .row = row,
        .append_k = halves ? &gyre_rotary_f32_f16_half : &gyre_rotary_f32_half,
        .append_v = halves ? &gyre_rotary_f32_f16_interleaved : &gyre_rotary_f32_interleaved,
        .convert = attention->dtype == GYRE_EMBEDDED_F16 ? &gyre_rotary_f32_f16_half : &gyre_rotary_f32_half,
        .prefill = of,
        .steps = each,
        .bound = bound,
    };
    return type;
}

static int try_f32(void) {
    const cache_type f32 = cached(&gyre_attention_f32_d64, &gyre_attention_row_f32_d64, 0, "prefill of 20 tokens, f32",
                                  "16 tokens one by one, f32", 4e-6f);
    cache_type capped = cached(&gyre_attention_capped_f32_d64, &gyre_attention_row_capped_f32_d64, 0,
                               "prefill of 20 tokens, f32, by a kernel that caps, without a cap",
                               "16 tokens one by one, f32, by a kernel that caps, without a cap", 4e-6f);
    int failures = try_cache(&f32) + try_cache(&capped);
    capped.is_capped = 1;
    capped.prefill = "prefill of 20 tokens, f32, scores capped";
    capped.steps = "16 tokens one by one, f32, scores capped";
    return failures + try_cache(&capped);
}

static int try_f16(void) {
    const cache_type f16 = cached(&gyre_attention_f16_d64, &gyre_attention_row_f16_d64, 1, "prefill of 20 tokens, f16",
                                  "16 tokens one by one, f16", 2e-3f);
    const cache_type f32_f16 =
        cached(&gyre_attention_f32_f16_d64, &gyre_attention_row_f32_f16_d64, 1,
               "prefill of 20 tokens, f32 on a cache of f16", "16 tokens one by one, f32 on a cache of f16", 1e-3f);
    return try_cache(&f16) + try_cache(&f32_f16);
}

static int try_i8(void) {
    const cache_type i8 =
        cached(&gyre_attention_f32_i8_d64, &gyre_attention_row_f32_i8_d64, 0,
               "prefill of 20 tokens, f32 on a cache of int8", "16 tokens one by one, f32 on a cache of int8", 8e-3f);
    cache_type by_head = i8;
    by_head.head_scales = 1;
    by_head.bound = 8e-3f * LARGEST;
    by_head.prefill = "prefill of 20 tokens, int8 with a scale a head";
    by_head.steps = "16 tokens one by one, int8 with a scale a head";
    cache_type capped =
        cached(&gyre_attention_capped_f32_i8_d64, &gyre_attention_row_capped_f32_i8_d64, 0,
               "prefill of 20 tokens, int8, scores capped", "16 tokens one by one, int8, scores capped", 8e-3f);
    capped.is_capped = 1;
    return try_cache(&i8) + try_cache(&by_head) + try_cache(&capped);
}

static int try_integer_scores(void) {
#ifdef GYRE_ATTENTION_F32_I8_INTEGER_D64_WORKSPACE
    const cache_type i8_integer = cached(&gyre_attention_f32_i8_integer_d64, &gyre_attention_row_f32_i8_integer_d64, 0,
                                         "prefill of 20 tokens, int8, scores by integers",
                                         "16 tokens one by one, int8, scores by integers", 8e-3f);
    return try_cache(&i8_integer);
#else
    return 0;
#endif
}

int try_decoding(void) {
    int failures =
        report("frequencies", gyre_embedded_frequencies(10000, ROTARY_DIM, frequencies) == GYRE_EMBEDDED_OK &&
                                  gyre_embedded_frequencies(10000, ROTARY_V_DIM, v_frequencies) == GYRE_EMBEDDED_OK);
    failures += try_f32();
    failures += try_f16();
    failures += try_i8();
    failures += try_integer_scores();
    if (stack) {
        report_number("stack of the library, bytes", stack);
        failures += report("stack within 4 KiB", stack <= 4096);
    }
    return failures;
}
