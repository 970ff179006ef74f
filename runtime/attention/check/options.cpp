// Checks of what gyre_attention()'s options add to scores or take from them.
#include "attention/check/check.h"

#include "attention/call/tensors.h"
#include "attention/masks/part.h"
#include "core/error.h"
#include "core/kernel_call.h"

#include <algorithm>
#include <cmath>

namespace gyre {
namespace {

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
                      static_cast<long long>(c->sequences) * c->q.heads);
    c->dropout = Dropout(a.dropout, a.dropout_seed, a.dropout_offset);
    return GYRE_OK;
}

} // namespace

gyre_status check_options(const gyre_attention_args &a, bool need_data, AttentionCall *c) {
    GYRE_TRY(check_scalars(a, c));
    GYRE_TRY(check_broadcast(a.bias, "bias", {GYRE_F32, GYRE_F16, GYRE_BF16}, need_data, *c, &c->bias));
    GYRE_TRY(check_broadcast(a.mask, "mask", {GYRE_BOOL}, need_data, *c, &c->mask));
    GYRE_TRY(check_per_head(a.sinks, "sinks", true, need_data, *c, &c->sinks));
    GYRE_TRY(check_per_head(a.alibi, "alibi", false, need_data, *c, &c->alibi));
    GYRE_TRY(check_score(a, c));
    return check_dropout(a, c);
}

gyre_status check_mask_is_prepared(const gyre_attention_args &a, bool need_data, AttentionCall *c) {
    if (has_masks_part()) return gyre_attention_masks.check_prepared(a, need_data, c);
    if (!a.prepared_mask && a.prepared_mask_size == 0) return GYRE_OK;
    return refuse(GYRE_UNSUPPORTED, "prepared_mask",
                  "is given to a program that was linked without kernels that take masks");
}

} // namespace gyre
