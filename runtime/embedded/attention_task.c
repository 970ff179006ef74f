/* One call of an attention kernel: where its tensors begin, and which keys its rows see. */
#include "attention_call.h"

enum { unbounded = 1 << 29 }; /* beyond every row and key */

static void write_empty_rows(const attention_call *c, int32_t tokens, float *lse) {
    static const union {
        uint32_t bits;
        float value;
    } minus_infinity = {0xff800000u};
    for (int32_t h = 0; h < c->heads; h++) {
        for (int32_t i = 0; i < tokens; i++) {
            uint8_t *row = c->out.host + (size_t)i * c->token_bytes + (size_t)h * c->row_bytes;
            for (size_t byte = 0; byte < c->row_bytes; byte++) row[byte] = 0;
            if (lse) lse[h * c->args->tokens + i] = minus_infinity.value;
        }
    }
}

static uint8_t *at(const void *begin, size_t offset) { return (uint8_t *)(uintptr_t)begin + offset; }

/** The cosines of a token and, after them, its sines. */
static void place_angles(halide_buffer_t *cos, halide_buffer_t *sin, const float *angles, int32_t token, int32_t dim) {
    if (dim == 0) return;
    const float *of_token = angles + token * dim;
    cos->host = at(of_token, 0);
    sin->host = at(of_token + dim / 2, 0);
}

gyre_embedded_status gyre_embedded_attention_task(attention_call *c, int32_t token, int32_t tokens) {
    const gyre_embedded_attention_args *a = c->args;
    const gyre_embedded_attention_kernel *kernel = a->kernel;
    const size_t offset = (size_t)token * c->token_bytes;
    float *lse = c->lse_begin ? c->lse_begin + token : NULL;
    c->q.host = at(c->q_begin, offset);
    c->out.host = c->out_begin + offset;

    /* Keys that the first token sees first and the last one sees last, from the start of a block. */
    const int32_t position = a->keys - a->tokens + token, after_last = position + tokens;
    const int32_t high = a->causal && after_last < a->keys ? after_last : a->keys;
    int32_t low = 0, first_key = 0;
    c->first_visible = -unbounded;
    c->last_visible = unbounded;
    if (a->window > 0) {
        const int32_t before = (a->window < unbounded ? a->window : unbounded) - 1;
        const int32_t first = position - before; /* that the first token sees */
        low = first < 0 ? 0 : first;
        first_key = low / kernel->key_block * kernel->key_block;
        c->first_visible = first - first_key;
    }
    if (a->causal) c->last_visible = position - first_key;
    if (high <= low) { /* the first block of keys sets a kernel's state: there must be one */
        write_empty_rows(c, tokens, lse);
        return GYRE_EMBEDDED_OK;
    }
    c->keys = high - first_key;

    const int32_t count = c->heads * tokens;
    const size_t k_offset = (size_t)first_key * c->k_token_bytes;
    c->rows[2].extent = c->q_table[1].extent = c->out_table[1].extent = count;
    c->lse_rows[0].extent = lse ? count : 0; /* nothing is formed of what nobody reads */
    c->lse_view.host = at(lse, 0);
    c->elements[1].extent = (c->keys - 1) * c->slot_stride + 1;
    c->k.host = at(c->k_begin, k_offset);
    c->v.host = at(c->v_begin, k_offset);
    if (kernel->cache_dtype == GYRE_EMBEDDED_I8) {
        c->scales[0].extent = c->keys;
        c->k_scales.host = at(c->k_scales_begin + first_key * c->scales[0].stride, 0);
        c->v_scales.host = at(c->v_scales_begin + first_key * c->scales[0].stride, 0);
    }
    place_angles(&c->q_cos, &c->q_sin, a->q_angles, token, a->rotary_dim);
    place_angles(&c->out_cos, &c->out_sin, a->out_angles, token, a->rotary_v_dim);
    const gyre_embedded_attention_kernel *fits = count == 1 && a->row_kernel ? a->row_kernel : kernel;
    return fits->call(c->arguments) ? GYRE_EMBEDDED_INTERNAL : GYRE_EMBEDDED_OK;
}
