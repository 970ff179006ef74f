#include "attention_call.h"

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

static void set(halide_dimension_t *dim, int32_t extent, int32_t stride) {
    dim->min = 0;
    dim->extent = extent;
    dim->stride = stride;
    dim->flags = 0;
}

static void describe_tensors(attention_call *c) {
    const gyre_embedded_attention_args *a = c->args;
    const int32_t d = a->head_dim, by_token = c->most_heads == 1, kv_token = a->num_kv_heads * d;
    const int is_i8 = a->kernel->cache_dtype == GYRE_EMBEDDED_I8;
    const uint8_t stored = is_i8 ? halide_type_int : halide_type_float, stored_bits = bits_of(a->kernel->cache_dtype);
    const uint8_t real = halide_type_float, bits = bits_of(a->kernel->dtype);
    set(&c->rows[0], d, 1);
    set(&c->rows[1], 1, 0);
    set(&c->rows[2], 0, by_token ? a->num_heads * d : d);
    set(&c->elements[0], d, 1);
    set(&c->elements[1], a->keys * kv_token, 1);
    set(&c->lse_rows[0], 0, by_token ? 1 : a->tokens);
    set(&c->lse_rows[1], 1, 0);
    describe(&c->q, NULL, real, bits, 3, c->rows);
    describe(&c->out, NULL, real, bits, 3, c->rows);
    describe(&c->k, NULL, stored, stored_bits, 2, c->elements);
    describe(&c->v, NULL, stored, stored_bits, 2, c->elements);
    describe(&c->lse_view, NULL, real, 32, 2, c->lse_rows);
    if (is_i8) {
        set(&c->scales[0], a->keys, a->head_scales ? 0 : a->num_kv_heads);
        describe(&c->k_scales, NULL, real, 32, 1, c->scales);
        describe(&c->v_scales, NULL, real, 32, 1, c->scales);
    }
    c->slot_stride = kv_token;
    c->row_step = by_token;
}

static void describe_angles(attention_call *c) {
    static const float no_angle = 0;
    const gyre_embedded_attention_args *a = c->args;
    const int32_t pairs = a->rotary_dim / 2, out_pairs = a->rotary_v_dim / 2, by_token = c->most_heads == 1;
    set(&c->q_table[0], pairs, 1);
    set(&c->q_table[1], 0, by_token * a->rotary_dim);
    set(&c->out_table[0], out_pairs, 1);
    set(&c->out_table[1], 0, by_token * a->rotary_v_dim);
    const float *q_angles = pairs ? a->q_angles : &no_angle, *out_angles = out_pairs ? a->out_angles : &no_angle;
    describe(&c->q_cos, q_angles, halide_type_float, 32, 2, c->q_table);
    describe(&c->q_sin, q_angles + pairs, halide_type_float, 32, 2, c->q_table);
    describe(&c->out_cos, out_angles, halide_type_float, 32, 2, c->out_table);
    describe(&c->out_sin, out_angles + out_pairs, halide_type_float, 32, 2, c->out_table);
    c->q_interleaved = a->pairing * pairs;
    c->q_half = pairs - c->q_interleaved; /* which are 0 and 1 */
    c->out_interleaved = a->value_pairing * out_pairs;
    c->out_half = out_pairs - c->out_interleaved;
}

/* What each argument of the table points to. Keys and values are rotated already and have no pages: what speaks of that is
 * any buffer, which the kernels do not read, or 0. */
#define FOR_q_cos &c->q_cos
#define FOR_q_sin &c->q_sin
#define FOR_k_cos &c->q_cos
#define FOR_k_sin &c->q_cos
#define FOR_v_cos &c->q_cos
#define FOR_v_sin &c->q_cos
#define FOR_o_cos &c->out_cos
#define FOR_o_sin &c->out_sin
#define FOR_q_half &c->q_half
#define FOR_q_interleaved &c->q_interleaved
#define FOR_k_half &c->zero
#define FOR_k_interleaved &c->zero
#define FOR_v_half &c->zero
#define FOR_v_interleaved &c->zero
#define FOR_o_half &c->out_half
#define FOR_o_interleaved &c->out_interleaved
#define FOR_scale &c->scale
#define FOR_first_visible &c->first_visible
#define FOR_last_visible &c->last_visible
#define FOR_keys &c->keys
#define FOR_pages &c->q_cos
#define FOR_page_bits &c->zero
#define FOR_first_slot &c->zero
#define FOR_k_slot_stride &c->slot_stride
#define FOR_k_page_stride &c->zero
#define FOR_v_slot_stride &c->slot_stride
#define FOR_v_page_stride &c->zero
#define FOR_q &c->q
#define FOR_k &c->k
#define FOR_v &c->v
#define FOR_row_step &c->row_step
#define FOR_k_scales &c->k_scales
#define FOR_v_scales &c->v_scales
#define FOR_score_cap (void *)(uintptr_t)&c->args->softcap
#define FOR_out &c->out
#define FOR_lse &c->lse_view

/* Which of them the kernels here have. */
#define IF_always(statement) statement
#define IF_dense(statement) statement
#define IF_int8(statement)                                                                                             \
    if (is_i8) statement
#define IF_capped(statement)                                                                                           \
    if (is_capped) statement
#define IF_formed(statement)
#define IF_sloped(statement)
#define IF_bounded(statement)
#define IF_own_keys(statement)
#define IF_tile_lanes(statement)
#define IF_sinks(statement)
#define IF_general(statement)
#define IF_dropout(statement)
#define IF_score(statement)

static void list_arguments(attention_call *c) {
    const gyre_embedded_attention_kernel *kernel = c->args->kernel;
    const int is_i8 = kernel->cache_dtype == GYRE_EMBEDDED_I8, is_capped = kernel->softcap;
    void **next = c->arguments;
    *next++ = &c->context;
#define GYRE_INPUT(name, type, rank, when) IF_##when(*next++ = FOR_##name;)
#define GYRE_OUTPUT(name, type, rank, when) IF_##when(*next++ = FOR_##name;)
#define GYRE_SCORE_INPUTS(when)
#include "attention/attention_arguments.inc"
}

void gyre_embedded_begin_attention(attention_call *c, const gyre_embedded_attention_args *a) {
    const gyre_embedded_attention_kernel *kernel = a->kernel;
    const int32_t group = a->num_heads / a->num_kv_heads, rows = kernel->task_rows;
    char *memory = (char *)a->workspace + (line - (uintptr_t)a->workspace % line) % line;
    c->args = a;
    c->most_heads = group < rows ? group : rows;
    c->most_tokens = c->most_heads == 1 && !a->row_kernel ? rows : 1;
    c->row_bytes = (size_t)a->head_dim * element_size(kernel->dtype);
    c->k_row_bytes = (size_t)a->head_dim * element_size(kernel->cache_dtype);
    c->token_bytes = (size_t)a->num_heads * c->row_bytes;
    c->k_token_bytes = (size_t)a->num_kv_heads * c->k_row_bytes;
    c->first_token = gyre_embedded_write_blind_tokens(a);
    begin_slab(&c->memory, memory, a->workspace_size - line);
    c->context = &c->memory;
    c->zero = 0;
    c->scale = (a->scale != 0 ? a->scale : inverse_root((float)a->head_dim)) * log2_e;
    describe_tensors(c);
    describe_angles(c);
    list_arguments(c);
}

void gyre_embedded_take_heads(attention_call *c, int32_t head, int32_t heads, int32_t kv_head) {
    const gyre_embedded_attention_args *a = c->args;
    const size_t row = (size_t)head * c->row_bytes, k_row = (size_t)kv_head * c->k_row_bytes;
    c->heads = heads;
    c->q_begin = (const uint8_t *)a->q + row;
    c->out_begin = (uint8_t *)a->out + row;
    c->k_begin = (const uint8_t *)a->k + k_row;
    c->v_begin = (const uint8_t *)a->v + k_row;
    if (a->kernel->cache_dtype == GYRE_EMBEDDED_I8) {
        c->k_scales_begin = a->k_scales + kv_head;
        c->v_scales_begin = a->v_scales + kv_head;
    }
    c->lse_begin = a->lse ? a->lse + head * a->tokens : NULL;
}
