#include "attention.h"

static int is_extent(int32_t n) { return n >= 0 && n <= largest_extent; }

static int is_rotation(int32_t rotary_dim, int32_t head_dim) {
    return rotary_dim >= 0 && rotary_dim % 2 == 0 && rotary_dim <= head_dim;
}

static int is_pairing(gyre_embedded_pairing pairing) {
    return pairing == GYRE_EMBEDDED_HALF || pairing == GYRE_EMBEDDED_INTERLEAVED;
}

/** Nothing that is read may be where something is written; but out may be q. */
static gyre_embedded_status check_memory(const gyre_embedded_attention_args *a) {
    const gyre_embedded_dtype dtype = a->kernel->dtype;
    const size_t q_bytes = dense_bytes(a->tokens, a->num_heads, a->head_dim, dtype);
    const gyre_embedded_dtype cache = a->kernel->cache_dtype;
    const size_t k_bytes = dense_bytes(a->keys, a->num_kv_heads, a->head_dim, cache);
    const int has_scales = cache == GYRE_EMBEDDED_I8;
    const size_t scale_bytes = has_scales ? (size_t)a->keys * (size_t)a->num_kv_heads * sizeof(float) : 0;
    if (!q_bytes || (a->keys && !k_bytes)) return GYRE_EMBEDDED_BAD_SHAPE;
    const struct {
        const void *data;
        size_t bytes;
        size_t alignment; /* 0: may be absent */
    } read[] = {
        {a->k, k_bytes, a->keys ? element_size(cache) : 0},
        {a->v, k_bytes, a->keys ? element_size(cache) : 0},
        {a->k_scales, scale_bytes, scale_bytes ? sizeof(float) : 0},
        {a->v_scales, scale_bytes, scale_bytes ? sizeof(float) : 0},
        {a->q_angles, (size_t)a->tokens * (size_t)a->rotary_dim * sizeof(float), a->rotary_dim ? sizeof(float) : 0},
        {a->out_angles, (size_t)a->tokens * (size_t)a->rotary_v_dim * sizeof(float),
         a->rotary_v_dim ? sizeof(float) : 0},
        {a->q, q_bytes, element_size(dtype)},
    };
    const struct {
        void *data;
        size_t bytes;
    } written[] = {
        {a->out, q_bytes},
        {a->lse, a->lse ? (size_t)a->tokens * (size_t)a->num_heads * sizeof(float) : 0},
        {a->workspace, gyre_embedded_attention_workspace_size(a->kernel)},
    };
    enum { reads = sizeof read / sizeof read[0], q = reads - 1, writes = sizeof written / sizeof written[0], out = 0 };
    if (!has_scales && (a->k_scales || a->v_scales)) return GYRE_EMBEDDED_BAD_ARGUMENT;
    if (!is_aligned(a->out, element_size(dtype))) return GYRE_EMBEDDED_BAD_ARGUMENT;
    if (a->lse && !is_aligned(a->lse, sizeof(float))) return GYRE_EMBEDDED_BAD_ARGUMENT;
    if (!a->workspace) return GYRE_EMBEDDED_BAD_ARGUMENT;
    for (int r = 0; r < reads; r++) {
        if (read[r].alignment && !is_aligned(read[r].data, read[r].alignment)) return GYRE_EMBEDDED_BAD_ARGUMENT;
        for (int w = 0; w < writes; w++) {
            const int in_place = r == q && w == out && a->q == a->out;
            if (!in_place && overlap(read[r].data, read[r].bytes, written[w].data, written[w].bytes))
                return GYRE_EMBEDDED_BAD_ARGUMENT;
        }
    }
    for (int w = 1; w < writes; w++)
        for (int other = 0; other < w; other++)
            if (overlap(written[w].data, written[w].bytes, written[other].data, written[other].bytes))
                return GYRE_EMBEDDED_BAD_ARGUMENT;
    return GYRE_EMBEDDED_OK;
}

gyre_embedded_status gyre_embedded_check_attention(const gyre_embedded_attention_args *a) {
    if (!a || !a->kernel) return GYRE_EMBEDDED_BAD_ARGUMENT;
    if (!is_extent(a->tokens) || !is_extent(a->keys) || !is_extent(a->num_heads) || !is_extent(a->num_kv_heads) ||
        a->head_dim != a->kernel->head_dim)
        return GYRE_EMBEDDED_BAD_SHAPE;
    if (a->num_heads && (a->num_kv_heads == 0 || a->num_heads % a->num_kv_heads)) return GYRE_EMBEDDED_BAD_SHAPE;
    if (!is_rotation(a->rotary_dim, a->head_dim) || !is_rotation(a->rotary_v_dim, a->head_dim))
        return GYRE_EMBEDDED_BAD_SHAPE;
    if (!is_pairing(a->pairing) || !is_pairing(a->value_pairing) || a->window_left < -1 || !(a->scale - a->scale == 0))
        return GYRE_EMBEDDED_BAD_ARGUMENT;
    if (a->tokens == 0 || a->num_heads == 0) return GYRE_EMBEDDED_OK;
    if (a->workspace_size < gyre_embedded_attention_workspace_size(a->kernel)) return GYRE_EMBEDDED_WORKSPACE_TOO_SMALL;
    return check_memory(a);
}
