// Checks of gyre_attention()'s tensors: queries, keys, values, results and lse.
#include "attention/check/check.h"

#include "attention/call/tensors.h"
#include "core/error.h"
#include "core/overlap.h"
#include "core/value_blocks.h"

namespace gyre {

gyre_status check_inputs(const gyre_attention_args &a, bool need_data, AttentionCall *c) {
    GYRE_TRY(view_heads(a.q, "q", a.layout, {GYRE_F32, GYRE_F16, GYRE_BF16}, need_data, &c->q));
    const gyre_layout keys_layout = a.layout == GYRE_THD && a.page_table ? GYRE_BSHD : a.layout;
    if (a.q.dtype == GYRE_F32 && c->takes_narrow_keys)
        GYRE_TRY(view_heads(a.k, "k", keys_layout, {GYRE_F32, GYRE_F16, GYRE_BF16}, need_data, &c->k));
    else
        GYRE_TRY(view_heads(a.k, "k", keys_layout, {a.q.dtype}, need_data, &c->k));
    GYRE_TRY(view_heads(a.v, "v", keys_layout, {a.k.dtype}, need_data, &c->v));
    const Heads &q = c->q, &k = c->k, &v = c->v; // with a page table, k and v are pools until check_page_table()
    const auto text = [](const gyre_tensor &t) { return shape_text(t.shape, t.rank); };
    if (!a.page_table && k.batch != q.batch)
        return refuse(GYRE_BAD_SHAPE, "k", "got shape %s, expected q's batch %lld", text(a.k),
                      static_cast<long long>(q.batch));
    if (k.dim != q.dim)
        return refuse(GYRE_BAD_SHAPE, "k", "got shape %s, expected q's head_dim %lld", text(a.k),
                      static_cast<long long>(q.dim));
    if (v.batch != k.batch || v.seqlen != k.seqlen || v.heads != k.heads)
        return refuse(GYRE_BAD_SHAPE, "v", "got shape %s, expected k's %s but for the last extent", text(a.v),
                      text(a.k));
    if (k.heads == 0 ? q.heads != 0 : q.heads % k.heads != 0)
        return refuse(GYRE_BAD_SHAPE, "k", "got %lld num_kv_heads, expected a divisor of q's %lld num_heads",
                      static_cast<long long>(k.heads), static_cast<long long>(q.heads));
    for (const Heads *t : {&q, &v})
        if (t->dim < 1 || t->dim > largest_head_dim)
            return refuse(t->dim < 1 ? GYRE_BAD_SHAPE : GYRE_UNSUPPORTED, t == &q ? "q" : "v",
                          "got head size %lld, expected 1 .. %lld", static_cast<long long>(t->dim),
                          static_cast<long long>(largest_head_dim));
    for (const Heads *t : {&q, &k})
        if (t->seqlen > most_tokens)
            return refuse(GYRE_UNSUPPORTED, t == &q ? "q" : "k", "got %lld tokens, expected at most %lld",
                          static_cast<long long>(t->seqlen), static_cast<long long>(most_tokens));
    for (const Heads *t : {&q, &k, &v})
        if (!fits_index(t->seqlen, t->token_stride, t->dim))
            return refuse(GYRE_UNSUPPORTED,
                          t == &q   ? "q"
                          : t == &k ? "k"
                                    : "v",
                          "one head's tokens reach over 2^31 elements");
    return GYRE_OK;
}

gyre_status check_output(const gyre_attention_args &a, bool need_data, AttentionCall *c) {
    GYRE_TRY(view_heads(a.out, "out", a.layout, {a.q.dtype}, need_data, &c->out));
    const auto text = [](const gyre_tensor &t) { return shape_text(t.shape, t.rank); };
    const Heads &q = c->q, &k = c->k, &v = c->v, &o = c->out;
    if (o.batch != q.batch || o.seqlen != q.seqlen || o.heads != q.heads || o.dim != v.dim)
        return refuse(GYRE_BAD_SHAPE, "out", "got shape %s, expected q's %s with head size %lld", text(a.out),
                      text(a.q), static_cast<long long>(v.dim));
    if (!fits_index(o.seqlen, o.token_stride, o.dim))
        return refuse(GYRE_UNSUPPORTED, "out", "one head's tokens reach over 2^31 elements");
    if (!writable(o)) return refuse(GYRE_BAD_SHAPE, "out", "strides make elements share memory");
    if (!need_data) return GYRE_OK;
    if (!same_or_disjoint(q, o))
        return refuse(GYRE_BAD_ARGUMENT, "out", "overlaps q without being q, expected the same view or other memory");
    if (!disjoint(k, o)) return refuse(GYRE_BAD_ARGUMENT, "out", "overlaps k, expected other memory");
    if (!disjoint(v, o)) return refuse(GYRE_BAD_ARGUMENT, "out", "overlaps v, expected other memory");
    return GYRE_OK;
}

gyre_status check_blocks(const gyre_attention_args &a, AttentionCall *c) {
    GYRE_TRY(check_value_order(a.value_order));
    c->value_blocks = a.value_order == GYRE_VALUES_IN_BLOCKS;
    if (!c->value_blocks) return GYRE_OK;
    if (a.layout == GYRE_THD && !a.page_table)
        return refuse(GYRE_UNSUPPORTED, "value_order",
                      "blocks are given with layout thd, expected bshd, bhsd or a page_table");
    if ((a.rope && !a.keys_rotated) || (a.value_rope && !a.values_rotated))
        return refuse(GYRE_UNSUPPORTED, "value_order",
                      "blocks are given with keys or values to be rotated, expected "
                      "keys_rotated and values_rotated");
    if (c->q.dtype != c->k.dtype)
        return refuse(GYRE_BAD_TYPE, "q", "got %s with values in blocks, expected k's %s", dtype_name(c->q.dtype),
                      dtype_name(c->k.dtype));
    return check_value_blocks(c->v, "v");
}

gyre_status check_lse(const gyre_attention_args &a, bool need_data, AttentionCall *c) {
    if (!a.lse) return GYRE_OK;
    GYRE_TRY(view_lse(*a.lse, "lse", a.layout, c->q, need_data, &c->lse));
    const Heads as_heads = c->lse.as_heads(c->q);
    if (!writable(as_heads)) return refuse(GYRE_BAD_SHAPE, "lse", "strides make elements share memory");
    for (const Heads *t : {&c->q, &c->k, &c->v, &c->out})
        if (need_data && !disjoint(as_heads, *t))
            return refuse(GYRE_BAD_ARGUMENT, "lse", "overlaps another tensor, expected other memory");
    return GYRE_OK;
}

} // namespace gyre
