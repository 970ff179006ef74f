/* One call of an attention kernel: what it reads and writes, as it wants it described. */
#include "attention.h"
#include "kernel_call.h"

enum { unbounded = 1 << 29 }; /* beyond every row and key */

static const float log2_e = 1.44269504088896f;

/** 1 / sqrt(x), for x in [1, 512]: half the exponent, then Newton's method. */
static float inverse_root(float x) {
    union {
        float value;
        uint32_t bits;
    } y = {x};
    y.bits = 0x5f400000u - (y.bits >> 1);
    for (int step = 0; step < 5; step++) y.value *= 1.5f - 0.5f * x * y.value * y.value;
    return y.value;
}

static void write_empty_rows(const gyre_embedded_attention_args *a, const attention_task *t, float *lse,
                             int32_t lse_stride) {
    static const union {
        uint32_t bits;
        float value;
    } minus_infinity = {0xff800000u};
    const size_t row_bytes = dense_bytes(1, 1, a->head_dim, a->kernel->dtype);
    for (int32_t h = 0; h < t->heads; h++) {
        for (int32_t i = 0; i < t->tokens; i++) {
            const size_t row = (size_t)(t->token + i) * (size_t)a->num_heads + (size_t)(t->head + h);
            char *out = (char *)a->out + row * row_bytes;
            for (size_t byte = 0; byte < row_bytes; byte++) out[byte] = 0;
            lse[h * lse_stride + i] = minus_infinity.value;
        }
    }
}

gyre_embedded_status gyre_embedded_attention_task(const gyre_embedded_attention_args *a, attention_task t) {
    static const float no_angle = 0;
    const gyre_embedded_attention_kernel *kernel = a->kernel;
    char *memory = (char *)a->workspace + (line - (uintptr_t)a->workspace % line) % line;
    slab s = {memory, kernel->workspace, NULL}, *context = &s;
    float *lse = a->lse ? a->lse + t.head * a->tokens + t.token : (float *)(void *)(memory + kernel->workspace);
    const int32_t lse_stride = a->lse ? a->tokens : t.tokens;

    /* Keys that the first token sees first and the last one sees last. */
    const int32_t position = a->keys - a->tokens + t.token;
    const int32_t low = a->window_left < 0 || position < a->window_left ? 0 : position - a->window_left;
    const int32_t after_last = position + t.tokens;
    const int32_t high = a->causal && after_last < a->keys ? after_last : a->keys;
    t.first_key = low / kernel->key_block * kernel->key_block;
    t.keys = high - t.first_key;
    if (high <= low) {
        write_empty_rows(a, &t, lse, lse_stride);
        return GYRE_EMBEDDED_OK;
    }
    int32_t first_visible = a->window_left < 0 ? -unbounded : position - a->window_left - t.first_key;
    int32_t last_visible = a->causal ? position - t.first_key : unbounded;

    const int32_t d = a->head_dim, kv_head = t.head / (a->num_heads / a->num_kv_heads), kv_token = a->num_kv_heads * d;
    const size_t row_bytes = dense_bytes(1, 1, d, kernel->dtype);
    const size_t q_row = (size_t)t.token * (size_t)a->num_heads + (size_t)t.head;
    const size_t k_row = (size_t)t.first_key * (size_t)a->num_kv_heads + (size_t)kv_head;
    const int is_i8 = kernel->cache_dtype == GYRE_EMBEDDED_I8;
    const size_t k_begin = k_row * (size_t)d * element_size(kernel->cache_dtype);
    const uint8_t stored = is_i8 ? halide_type_int : halide_type_float, stored_bits = bits_of(kernel->cache_dtype);
    const uint8_t real = halide_type_float, bits = bits_of(kernel->dtype);
    /* Rows are tokens of a head, or heads of a token, which have its angles and its position. */
    const int32_t count = t.heads * t.tokens, by_token = t.heads == 1;
    halide_dimension_t rows[3] = {{0, d, 1, 0}, {0, 1, 0, 0}, {0, count, by_token ? a->num_heads * d : d, 0}};
    halide_dimension_t elements[2] = {{0, d, 1, 0}, {0, (t.keys - 1) * kv_token + 1, 1, 0}};
    halide_dimension_t lse_rows[2] = {{0, count, by_token ? 1 : lse_stride, 0}, {0, 1, 0, 0}};
    halide_buffer_t q, out, k, v, k_scales, v_scales, lse_view, q_cos, q_sin, out_cos, out_sin, none;
    describe(&q, (const char *)a->q + q_row * row_bytes, real, bits, 3, rows);
    describe(&out, (char *)a->out + q_row * row_bytes, real, bits, 3, rows);
    describe(&k, (const char *)a->k + k_begin, stored, stored_bits, 2, elements);
    describe(&v, (const char *)a->v + k_begin, stored, stored_bits, 2, elements);
    halide_dimension_t scales[1] = {{0, t.keys, a->num_kv_heads, 0}};
    describe(&k_scales, is_i8 ? a->k_scales + k_row : NULL, real, 32, 1, scales);
    describe(&v_scales, is_i8 ? a->v_scales + k_row : NULL, real, 32, 1, scales);
    describe(&lse_view, lse, real, 32, 2, lse_rows);

    const int32_t pairs = a->rotary_dim / 2, out_pairs = a->rotary_v_dim / 2;
    const float *q_angles = pairs ? a->q_angles + t.token * a->rotary_dim : &no_angle;
    const float *out_angles = out_pairs ? a->out_angles + t.token * a->rotary_v_dim : &no_angle;
    halide_dimension_t q_table[2] = {{0, pairs, 1, 0}, {0, count, by_token * a->rotary_dim, 0}};
    halide_dimension_t out_table[2] = {{0, out_pairs, 1, 0}, {0, count, by_token * a->rotary_v_dim, 0}};
    halide_dimension_t no_table[2] = {{0, 0, 1, 0}, {0, t.keys, 0, 0}}; /* keys and values are rotated already */
    describe(&q_cos, q_angles, real, 32, 2, q_table);
    describe(&q_sin, q_angles + pairs, real, 32, 2, q_table);
    describe(&out_cos, out_angles, real, 32, 2, out_table);
    describe(&out_sin, out_angles + out_pairs, real, 32, 2, out_table);
    describe(&none, &no_angle, real, 32, 2, no_table);

    int32_t zero = 0, row_step = by_token, slot_stride = kv_token;
    int32_t q_half = a->pairing == GYRE_EMBEDDED_HALF ? pairs : 0, q_interleaved = pairs - q_half;
    int32_t out_half = a->value_pairing == GYRE_EMBEDDED_HALF ? out_pairs : 0, out_interleaved = out_pairs - out_half;
    float scale = (a->scale != 0 ? a->scale : inverse_root((float)d)) * log2_e;
    /* In the order of generators/attention/attention_generator.cpp; these kernels have no pages. */
    void *arguments[] = {
        &context,     &q_cos,         &q_sin,        &none,    &none, &none, &none,     &out_cos,
        &out_sin,                                                                                         /* angles */
        &q_half,      &q_interleaved, &zero,         &zero,    &zero, &zero, &out_half, &out_interleaved, /* pairs */
        &scale,       &first_visible, &last_visible, &t.keys,  &none, &zero, &zero, /* a mask, pages */
        &slot_stride, &zero,          &slot_stride,  &zero,    &q,    &k,    &v,        &row_step,
        &k_scales,    &v_scales,      &out,          &lse_view};
    if (!is_i8) arguments[32] = &out, arguments[33] = &lse_view; /* such a kernel takes no scales */
    return kernel->call(arguments) ? GYRE_EMBEDDED_INTERNAL : GYRE_EMBEDDED_OK;
}
