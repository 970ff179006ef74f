// Checks of gyre_attention()'s tensors and options. Lists of lengths and rotations: check_sequences.cpp.
#include "attention/check.h"

#include "attention/masks_part.h"
#include "attention/tensors.h"
#include "core/error.h"
#include "core/kernel_call.h"
#include "core/overlap.h"
#include "core/value_blocks.h"

#include <algorithm>
#include <cmath>

namespace gyre {
namespace {

constexpr int64_t most_rows = INT64_C(1) << 56; // of scores, in all heads of all sequences; parts of them still count

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

gyre_status check_scalars(const gyre_attention_args &a, AttentionCall *c) {
    if (!std::isfinite(a.scale))
        return refuse(GYRE_BAD_ARGUMENT, "scale", "got %g, expected a finite number; 0 means 1 / sqrt(head_dim)",
                      a.scale);
    if (!(std::isfinite(a.softcap) && a.softcap >= 0))
        return refuse(GYRE_BAD_ARGUMENT, "softcap", "got %g, expected a finite number >= 0", a.softcap);
    GYRE_TRY(check_flag(a.causal, "causal"));
    GYRE_TRY(check_flag(a.keys_rotated, "keys_rotated"));
    GYRE_TRY(check_flag(a.values_rotated, "values_rotated"));
    if (a.alignment != GYRE_BOTTOM_RIGHT && a.alignment != GYRE_TOP_LEFT)
        return refuse(GYRE_BAD_ARGUMENT, "alignment", "got %d, expected GYRE_BOTTOM_RIGHT (0) or GYRE_TOP_LEFT (1)",
                      static_cast<int>(a.alignment));
    if (a.window_left < -1)
        return refuse(GYRE_BAD_ARGUMENT, "window_left", "got %lld, expected -1 (unbounded) or more",
                      static_cast<long long>(a.window_left));
    if (a.window_right < -1)
        return refuse(GYRE_BAD_ARGUMENT, "window_right", "got %lld, expected -1 (unbounded) or more",
                      static_cast<long long>(a.window_right));
    c->scale = a.scale != 0 ? a.scale : static_cast<float>(1.0 / std::sqrt(static_cast<double>(c->q.dim)));
    c->softcap = a.softcap;
    c->alignment = a.alignment;
    c->left = std::min(a.window_left, most_tokens);
    c->right = a.causal ? 0 : std::min(a.window_right, most_tokens);
    return GYRE_OK;
}

/// A tensor that NumPy's rule broadcasts to [batch, num_heads, seqlen_q, seqlen_kv].
gyre_status check_broadcast(const gyre_tensor *t, const char *name, std::initializer_list<gyre_dtype> dtypes,
                            bool need_data, const AttentionCall &c, Broadcast *out) {
    if (!t) return GYRE_OK;
    if (c.layout == GYRE_THD) return refuse(GYRE_UNSUPPORTED, name, "is given with layout thd, expected bshd or bhsd");
    GYRE_TRY(check_tensor(*t, name, {1, 2, 3, 4}, dtypes, need_data, any_strides));
    const int64_t full[4] = {c.q.batch, c.q.heads, c.q.seqlen, c.k.seqlen};
    for (int i = 0; i < t->rank; i++) {
        const int dimension = 4 - t->rank + i;
        if (t->shape[i] != full[dimension] && t->shape[i] != 1)
            return refuse(GYRE_BAD_SHAPE, name, "got shape %s, expected one that broadcasts to %s",
                          shape_text(t->shape, t->rank), shape_text(full, 4));
        out->strides[dimension] = t->shape[i] == 1 ? 0 : t->strides[i];
    }
    if (!fits_kernel_index({{c.q.seqlen, out->strides[2]}, {c.k.seqlen, out->strides[3]}}))
        return refuse(GYRE_UNSUPPORTED, name, "one head reaches over 2^31 elements");
    static const char anything = 0; // tells "present" where only sizes are asked for, or where it is empty
    out->data = t->data ? static_cast<const char *>(t->data) : &anything;
    out->dtype = t->dtype;
    return GYRE_OK;
}

gyre_status check_per_head(const gyre_tensor *t, const char *name, bool minus_infinity, bool need_data,
                           const AttentionCall &c, const float **out) {
    if (!t) return GYRE_OK;
    GYRE_TRY(check_tensor(*t, name, {1}, {GYRE_F32}, need_data));
    GYRE_TRY(check_shape(*t, name, {c.q.heads}));
    static const float anything = 0;
    *out = t->data ? static_cast<const float *>(t->data) : &anything;
    for (int64_t h = 0; need_data && h < c.q.heads; h++)
        if (!std::isfinite((*out)[h]) && !(minus_infinity && (*out)[h] == -INFINITY))
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s[%lld]", name, static_cast<long long>(h)),
                          "got %g, expected a finite number%s", (*out)[h], minus_infinity ? " or -inf" : "");
    return GYRE_OK;
}

/// That what there is of sequences, heads and tokens can be counted, and their tables' bytes.
gyre_status check_amounts(const AttentionCall &c) {
    const int64_t longest = std::max<int64_t>({c.q.seqlen, c.k.seqlen, 1});
    const int64_t keys = c.packed_keys ? c.k.seqlen : saturated_product(c.sequences, c.k.seqlen);
    const int64_t rows = saturated_product(saturated_product(c.sequences, std::max<int64_t>(c.q.heads, 1)), longest);
    if (keys <= most_elements && rows <= most_rows) return GYRE_OK;
    return refuse(
        GYRE_UNSUPPORTED, "q", "got %lld sequences, expected fewer with %lld heads and up to %lld tokens each",
        static_cast<long long>(c.sequences), static_cast<long long>(c.q.heads), static_cast<long long>(longest));
}

/// The score's name and list; what is in the list is checked once the kernel says what it asks for.
gyre_status check_score(const gyre_attention_args &a, AttentionCall *c) {
    if (a.score_input_count < 0)
        return refuse(GYRE_BAD_ARGUMENT, "score_input_count", "got %d, expected 0 or more", a.score_input_count);
    if (!a.score && a.score_input_count) return refuse(GYRE_BAD_ARGUMENT, "score_inputs", "are given without score");
    if (!a.score_inputs && a.score_input_count)
        return refuse(GYRE_BAD_ARGUMENT, "score_inputs", "got NULL, expected %d", a.score_input_count);
    c->score = a.score;
    return GYRE_OK;
}

gyre_status check_dropout(const gyre_attention_args &a, AttentionCall *c) {
    if (!(a.dropout >= 0 && a.dropout < 1))
        return refuse(GYRE_BAD_ARGUMENT, "dropout", "got %g, expected a probability, 0 <= p < 1", a.dropout);
    if (a.dropout == 0) return GYRE_OK;
    if (c->score) return refuse(GYRE_UNSUPPORTED, "dropout", "got %g with a score, expected 0", a.dropout);
    if (c->value_blocks)
        return refuse(GYRE_UNSUPPORTED, "dropout", "got %g with values in blocks, expected 0", a.dropout);
    if (c->sequences > 0 && c->q.heads > INT32_MAX / c->sequences)
        return refuse(GYRE_UNSUPPORTED, "dropout", "got %lld heads in all sequences, expected below 2^31",
                      static_cast<long long>(c->sequences * c->q.heads));
    c->dropout = Dropout(a.dropout, a.dropout_seed, a.dropout_offset);
    return GYRE_OK;
}

gyre_status check_mask_is_prepared(const gyre_attention_args &a, bool need_data, AttentionCall *c) {
    if (has_masks_part()) return gyre_attention_masks.check_prepared(a, need_data, c);
    if (!a.prepared_mask && a.prepared_mask_size == 0) return GYRE_OK;
    return refuse(GYRE_UNSUPPORTED, "prepared_mask",
                  "is given to a program that was linked without kernels that take masks");
}

} // namespace

gyre_status check_attention(const gyre_attention_args &a, bool need_data, AttentionCall *c, bool with_out,
                            bool read_lists) {
    GYRE_TRY(check_layout(a.layout));
    c->layout = a.layout;
    GYRE_TRY(check_inputs(a, need_data, c));
    if (with_out) GYRE_TRY(check_output(a, need_data, c));
    GYRE_TRY(check_blocks(a, c));
    GYRE_TRY(check_lse(a, need_data, c));
    need_data = need_data && read_lists;
    GYRE_TRY(check_sequences(a, need_data, c));
    GYRE_TRY(check_page_table(a, need_data, c));
    GYRE_TRY(check_amounts(*c));
    GYRE_TRY(check_scalars(a, c));
    GYRE_TRY(check_broadcast(a.bias, "bias", {GYRE_F32, GYRE_F16, GYRE_BF16}, need_data, *c, &c->bias));
    GYRE_TRY(check_broadcast(a.mask, "mask", {GYRE_BOOL}, need_data, *c, &c->mask));
    GYRE_TRY(check_per_head(a.sinks, "sinks", true, need_data, *c, &c->sinks));
    GYRE_TRY(check_per_head(a.alibi, "alibi", false, need_data, *c, &c->alibi));
    GYRE_TRY(check_score(a, c));
    GYRE_TRY(check_dropout(a, c));
    GYRE_TRY(check_used_keys(a, need_data, c));
    GYRE_TRY(check_mask_is_prepared(a, need_data, c));
    GYRE_TRY(check_pages(need_data, *c));
    GYRE_TRY(check_rotations(a, need_data, c));
    if (!need_data || !with_out) return GYRE_OK;
    const Heads lse = c->lse.as_heads(c->q);
    return check_reads_apart(a, {{&c->out, "out"}, {&lse, "lse"}}, a.lse);
}

} // namespace gyre
