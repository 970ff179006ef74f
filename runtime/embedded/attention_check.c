#include "attention.h"

static int is_extent(int32_t n) { return n >= 0 && n <= largest_extent; }

static int is_rotation(int32_t rotary_dim, int32_t head_dim) {
    return rotary_dim % 2 == 0 && (uint32_t)rotary_dim <= (uint32_t)head_dim;
}

enum { infinity_bits = 0x7f800000 }; /* of NaN they are larger, but for the sign */

static uint32_t bits_of_float(float value) {
    const union {
        float value;
        uint32_t bits;
    } as = {value};
    return as.bits;
}

/** The row kernel reads the same cache, and starts at the same blocks of keys. */
static int goes_with(const gyre_embedded_attention_kernel *row, const gyre_embedded_attention_kernel *kernel) {
    return row->task_rows == 1 && row->dtype == kernel->dtype && row->cache_dtype == kernel->cache_dtype &&
           row->head_dim == kernel->head_dim && row->key_block == kernel->key_block && row->softcap == kernel->softcap;
}

/** Memory of the caller. */
typedef struct region {
    uint8_t argument;  /* in_… */
    uint8_t alignment; /* 0: may be absent */
    const void *data;
    size_t bytes;
} region;

static int regions_overlap(const region *a, const region *b) { return overlap(a->data, a->bytes, b->data, b->bytes); }

/** Nothing that is read may be where something is written; but out may be q. */
static finding check_memory(const gyre_embedded_attention_args *a) {
    const gyre_embedded_dtype dtype = a->kernel->dtype;
    const gyre_embedded_dtype cache = a->kernel->cache_dtype;
    const size_t q_bytes = dense_bytes(a->tokens, a->num_heads, a->head_dim, dtype);
    const size_t k_bytes = dense_bytes(a->keys, a->num_kv_heads, a->head_dim, cache);
    const int has_scales = cache == GYRE_EMBEDDED_I8;
    size_t scale_bytes = has_scales ? (size_t)a->num_kv_heads * sizeof(float) : 0;
    if (!a->head_scales) scale_bytes *= (size_t)a->keys;
    if (!q_bytes) return found(in_tokens, is_bad_extent);
    if (a->keys && !k_bytes) return found(in_keys, is_bad_extent);
    if (!has_scales && a->k_scales) return found(in_k_scales, is_not_read);
    if (!has_scales && a->v_scales) return found(in_v_scales, is_not_read);

    const uint8_t real = sizeof(float), element = (uint8_t)element_size(dtype);
    const uint8_t cached = a->keys ? (uint8_t)element_size(cache) : 0, scaled = scale_bytes ? real : 0;
    const size_t tokens = (size_t)a->tokens;
    const region read[] = {
        {in_k, cached, a->k, k_bytes},
        {in_v, cached, a->v, k_bytes},
        {in_k_scales, scaled, a->k_scales, scale_bytes},
        {in_v_scales, scaled, a->v_scales, scale_bytes},
        {in_q_angles, a->rotary_dim ? real : 0, a->q_angles, tokens * (size_t)a->rotary_dim * real},
        {in_out_angles, a->rotary_v_dim ? real : 0, a->out_angles, tokens * (size_t)a->rotary_v_dim * real},
        {in_q, element, a->q, q_bytes},
    };
    const region written[] = {
        {in_out, element, a->out, q_bytes},
        {in_lse, a->lse ? real : 0, a->lse, a->lse ? tokens * (size_t)a->num_heads * real : 0},
        {in_workspace, 1, a->workspace, workspace_of(a)},
    };
    enum { reads = sizeof read / sizeof read[0], writes = sizeof written / sizeof written[0] };
    for (int w = 0; w < writes; w++) {
        if (written[w].alignment && !is_aligned(written[w].data, written[w].alignment))
            return found(written[w].argument, is_misaligned);
        for (int other = 0; other < w; other++)
            if (regions_overlap(&written[w], &written[other])) return found(written[w].argument, is_overlapping);
    }
    for (int r = 0; r < reads; r++) {
        if (read[r].alignment && !is_aligned(read[r].data, read[r].alignment))
            return found(read[r].argument, is_misaligned);
        for (int w = 0; w < writes; w++) {
            const int in_place = read[r].argument == in_q && written[w].argument == in_out && a->q == a->out;
            if (!in_place && read[r].alignment && regions_overlap(&read[r], &written[w]))
                return found(read[r].argument, is_overlapping);
        }
    }
    return nothing_found();
}

finding gyre_embedded_check_attention(const gyre_embedded_attention_args *a) {
    if (!a) return found(in_args, is_missing);
    if (a->size != sizeof *a) return found(in_size, is_other_size);
    if (!a->kernel) return found(in_kernel, is_missing);
    if (a->row_kernel && !goes_with(a->row_kernel, a->kernel)) return found(in_row_kernel, is_other_kernel);
    if (!is_extent(a->tokens)) return found(in_tokens, is_bad_extent);
    if (!is_extent(a->keys)) return found(in_keys, is_bad_extent);
    if (!is_extent(a->num_heads)) return found(in_num_heads, is_bad_extent);
    if (!is_extent(a->num_kv_heads)) return found(in_num_kv_heads, is_bad_extent);
    if (a->head_dim != a->kernel->head_dim) return found(in_head_dim, is_other_extent);
    if (a->num_heads && (a->num_kv_heads == 0 || a->num_heads % a->num_kv_heads))
        return found(in_num_kv_heads, is_not_divided);
    if (!is_rotation(a->rotary_dim, a->head_dim)) return found(in_rotary_dim, is_bad_rotation);
    if (!is_rotation(a->rotary_v_dim, a->head_dim)) return found(in_rotary_v_dim, is_bad_rotation);
    if (!is_switch(a->causal)) return found(in_causal, is_out_of_range);
    if (!is_switch(a->pairing)) return found(in_pairing, is_out_of_range);
    if (!is_switch(a->value_pairing)) return found(in_value_pairing, is_out_of_range);
    if (a->window < 0) return found(in_window, is_out_of_range);
    const uint32_t softcap = bits_of_float(a->softcap); /* of a negative number, larger than infinity's */
    if (softcap && (softcap >= infinity_bits || !a->kernel->softcap)) return found(in_softcap, is_not_capped);
    if (!is_switch(a->head_scales)) return found(in_head_scales, is_out_of_range);
    if ((bits_of_float(a->scale) & infinity_bits) == infinity_bits) return found(in_scale, is_out_of_range);
    if (a->tokens == 0 || a->num_heads == 0) return nothing_found();
    if (a->workspace_size < workspace_of(a)) return found(in_workspace_size, is_too_small);
    return check_memory(a);
}
