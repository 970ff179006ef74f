/* Calls of an attention kernel, a task each: where its tensors begin, and which keys its rows see. */
#include "attention_call.h"

enum { unbounded = 1 << 29 }; /* beyond every row and key */

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

int32_t gyre_embedded_write_blind_tokens(const gyre_embedded_attention_args *a) {
    static const union {
        uint32_t bits;
        float value;
    } minus_infinity = {0xff800000u};
    int32_t tokens = a->tokens;
    if (a->keys > 0) tokens = a->causal && tokens > a->keys ? tokens - a->keys : 0;
    uint8_t *out = a->out;
    const size_t bytes = (size_t)(tokens * a->num_heads * a->head_dim) * element_size(a->kernel->dtype);
    for (size_t byte = 0; byte < bytes; byte++) out[byte] = 0;
    for (int32_t h = 0; a->lse && h < a->num_heads; h++)
        for (int32_t i = 0; i < tokens; i++) a->lse[h * a->tokens + i] = minus_infinity.value;
    return tokens;
}

static uint8_t *at(const void *begin, size_t offset) { return (uint8_t *)(uintptr_t)begin + offset; }

/** The cosines of a token and, after them, its sines. */
static void place_angles(halide_buffer_t *cos, halide_buffer_t *sin, const float *angles, int32_t token, int32_t dim) {
    if (dim == 0) return;
    const float *of_token = angles + token * dim;
    cos->host = at(of_token, 0);
    sin->host = at(of_token + dim / 2, 0);
}

/** Places the keys that `token` sees, from the start of a block. Returns the first token whose keys begin with a later block. */
static int32_t place_keys(attention_call *c, int32_t token) {
    const gyre_embedded_attention_args *a = c->args;
    const int32_t position = a->keys - a->tokens + token, key_block = a->kernel->key_block;
    int32_t first_key = 0;
    c->first_visible = -unbounded;
    c->last_visible = unbounded;
    if (a->window > 0) {
        const int32_t before = (a->window < unbounded ? a->window : unbounded) - 1;
        const int32_t first = position - before; /* that the token sees */
        if (first > 0) first_key = first / key_block * key_block;
        c->first_visible = first - first_key;
    }
    if (a->causal) c->last_visible = position - first_key;
    c->most_keys = a->keys - first_key;

    const size_t k_offset = (size_t)first_key * c->k_token_bytes;
    c->k.host = at(c->k_begin, k_offset);
    c->v.host = at(c->v_begin, k_offset);
    if (a->kernel->cache_dtype == GYRE_EMBEDDED_I8) {
        c->k_scales.host = at(c->k_scales_begin + first_key * c->scales[0].stride, 0);
        c->v_scales.host = at(c->v_scales_begin + first_key * c->scales[0].stride, 0);
    }
    return token + key_block - c->first_visible;
}

static void place_rows(attention_call *c, int32_t token) {
    const gyre_embedded_attention_args *a = c->args;
    const size_t offset = (size_t)token * c->token_bytes;
    c->q.host = at(c->q_begin, offset);
    c->out.host = c->out_begin + offset;
    if (c->lse_begin) c->lse_view.host = at(c->lse_begin + token, 0);
    place_angles(&c->q_cos, &c->q_sin, a->q_angles, token, a->rotary_dim);
    place_angles(&c->out_cos, &c->out_sin, a->out_angles, token, a->rotary_v_dim);
}

/** Places the rows of the next task, and what they see, `tokens` further on. */
static void move_rows(attention_call *c, int32_t tokens) {
    const gyre_embedded_attention_args *a = c->args;
    const size_t bytes = (size_t)tokens * c->token_bytes, angle = (size_t)tokens * sizeof(float);
    c->q.host += bytes;
    c->out.host += bytes;
    c->lse_view.host += c->lse_begin ? angle : 0;
    c->q_cos.host += angle * (size_t)a->rotary_dim;
    c->q_sin.host += angle * (size_t)a->rotary_dim;
    c->out_cos.host += angle * (size_t)a->rotary_v_dim;
    c->out_sin.host += angle * (size_t)a->rotary_v_dim;
    c->first_visible += tokens;
    c->last_visible += tokens;
}

gyre_embedded_status gyre_embedded_attend(attention_call *c) {
    const gyre_embedded_attention_args *a = c->args;
    int32_t token = c->first_token;
    while (token < a->tokens) {
        const int32_t end = smaller(place_keys(c, token), a->tokens);
        place_rows(c, token);
        for (int32_t before = 0; token < end; token += before) {
            if (before) move_rows(c, before);
            const int32_t tokens = smaller(c->most_tokens, a->tokens - token), count = c->heads * tokens;
            before = tokens;
            c->rows[2].extent = c->q_table[1].extent = c->out_table[1].extent = count;
            c->lse_rows[0].extent = c->lse_begin ? count : 0; /* nothing is formed of what nobody reads */
            c->keys = smaller(c->last_visible + tokens, c->most_keys);
            const gyre_embedded_attention_kernel *fits = count == 1 && a->row_kernel ? a->row_kernel : a->kernel;
            if (fits->call(c->arguments)) return GYRE_EMBEDDED_INTERNAL;
        }
    }
    return GYRE_EMBEDDED_OK;
}
