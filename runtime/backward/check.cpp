// Checks of gyre_attention_backward(): those of the forward call, and of what it adds to it.
#include "attention/check/check.h"
#include "attention/call/tensors.h"
#include "backward/call.h"
#include "core/arguments.h"
#include "core/error.h"
#include "core/overlap.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace gyre {
namespace {

/// Options of attention whose gradients no kernel forms.
gyre_status check_options(const gyre_attention_args &f) {
    const std::pair<const void *, const char *> options[] = {
        {f.mask, "mask"}, {f.sinks, "sinks"}, {f.score, "score"}, {f.page_table, "page_table"}};
    for (const auto &[given, name] : options)
        if (given)
            return refuse(GYRE_UNSUPPORTED, ArgumentName("forward.%s", name),
                          "is given, expected NULL in the backward pass");
    if (f.value_order != GYRE_VALUES_IN_ROWS)
        return refuse(GYRE_UNSUPPORTED, "forward.value_order",
                      "got %d, expected GYRE_VALUES_IN_ROWS in the backward pass", static_cast<int>(f.value_order));
    if (!f.lse) return refuse(GYRE_BAD_ARGUMENT, "forward.lse", "got NULL, expected what gyre_attention() wrote");
    return GYRE_OK;
}

gyre_status check_gradient(const gyre_tensor &given, const char *name, const gyre_tensor &of, const char *of_name,
                           gyre_layout layout, bool written, bool need_data, Heads *view) {
    GYRE_TRY(view_heads(given, name, layout, {of.dtype}, need_data, view));
    if (!std::equal(of.shape, of.shape + of.rank, given.shape))
        return refuse(GYRE_BAD_SHAPE, name, "got shape %s, expected forward.%s's %s",
                      shape_text(given.shape, given.rank), of_name, shape_text(of.shape, of.rank));
    if (!fits_index(view->seqlen, view->token_stride, view->dim))
        return refuse(GYRE_UNSUPPORTED, name, "one head's tokens reach over 2^31 elements");
    if (written && !writable(*view)) return refuse(GYRE_BAD_SHAPE, name, "strides make elements share memory");
    return GYRE_OK;
}

gyre_status check_bias_gradient(const gyre_attention_backward_args &a, const gyre_attention_args &f, bool need_data,
                                BiasGradient *grad) {
    if (!a.bias_grad) return GYRE_OK;
    const gyre_tensor &t = *a.bias_grad;
    if (!f.bias) return refuse(GYRE_BAD_ARGUMENT, "bias_grad", "is given without forward.bias");
    GYRE_TRY(check_tensor(t, "bias_grad", {1, 2, 3, 4}, {GYRE_F32}, need_data));
    if (t.rank != f.bias->rank || !std::equal(t.shape, t.shape + t.rank, f.bias->shape))
        return refuse(GYRE_BAD_SHAPE, "bias_grad", "got shape %s, expected forward.bias's %s",
                      shape_text(t.shape, t.rank), shape_text(f.bias->shape, f.bias->rank));
    for (int d = 0; d < 4; d++) {
        const int i = d - (4 - t.rank);
        grad->shape[d] = i < 0 ? 1 : t.shape[i];
        grad->strides[d] = i < 0 || t.shape[i] == 1 ? 0 : t.strides[i];
    }
    grad->data = static_cast<float *>(t.data);
    const Heads view = grad->as_heads();
    if (!writable(view)) return refuse(GYRE_BAD_SHAPE, "bias_grad", "strides make elements share memory");
    if (!fits_index(view.seqlen, view.token_stride, view.dim))
        return refuse(GYRE_UNSUPPORTED, "bias_grad", "one head reaches over 2^31 elements");
    return GYRE_OK;
}

struct NamedView {
    const Heads *view;
    const char *name;
};

gyre_status check_apart(const NamedView &written, const NamedView &other) {
    if (disjoint(*written.view, *other.view)) return GYRE_OK;
    return refuse(GYRE_BAD_ARGUMENT, written.name, "overlaps %s, expected other memory", other.name);
}

/// What is written is apart from all that is read, and from each other.
gyre_status check_overlap(const BackwardCall &c, const gyre_attention_args &given) {
    const AttentionCall &f = c.forward;
    const Heads lse = f.lse.as_heads(f.q), bias_grad = c.bias_grad.as_heads();
    const NamedView written[] = {
        {&c.q_grad, "q_grad"}, {&c.k_grad, "k_grad"}, {&c.v_grad, "v_grad"}, {&bias_grad, "bias_grad"}};
    const NamedView read[] = {{&f.q, "forward.q"},     {&f.k, "forward.k"},   {&f.v, "forward.v"},
                              {&f.out, "forward.out"}, {&lse, "forward.lse"}, {&c.out_grad, "out_grad"}};
    for (const auto *to = std::begin(written); to != std::end(written); to++) {
        for (const auto &other : read) GYRE_TRY(check_apart(*to, other));
        for (const auto *other = to + 1; other != std::end(written); other++) GYRE_TRY(check_apart(*to, *other));
    }
    if (!disjoint(f.q, f.out))
        return refuse(GYRE_BAD_ARGUMENT, "forward.out", "overlaps forward.q, whose values the backward pass needs");
    const MembersOf forward_arguments("forward");
    return check_reads_apart(
        given, {{&c.q_grad, "q_grad"}, {&c.k_grad, "k_grad"}, {&c.v_grad, "v_grad"}, {&bias_grad, "bias_grad"}});
}

} // namespace

gyre_status check_backward(const gyre_attention_backward_args &a, bool need_data, gyre_attention_args *forward,
                           BackwardCall *c, bool read_lists) {
    constexpr size_t oldest_forward = offsetof(gyre_attention_args, score);
    GYRE_TRY(adopt(a.forward, "forward", gyre_attention_defaults(), oldest_forward, forward));
    GYRE_TRY(check_options(*forward));
    {
        const MembersOf forward_arguments("forward");
        c->forward.takes_narrow_keys = false;
        GYRE_TRY(check_attention(*forward, need_data, &c->forward, true, read_lists));
    }
    const gyre_attention_args &f = *forward;
    const gyre_layout layout = f.layout;
    GYRE_TRY(check_gradient(a.out_grad, "out_grad", f.out, "out", layout, false, need_data, &c->out_grad));
    GYRE_TRY(check_gradient(a.q_grad, "q_grad", f.q, "q", layout, true, need_data, &c->q_grad));
    GYRE_TRY(check_gradient(a.k_grad, "k_grad", f.k, "k", layout, true, need_data, &c->k_grad));
    GYRE_TRY(check_gradient(a.v_grad, "v_grad", f.v, "v", layout, true, need_data, &c->v_grad));
    GYRE_TRY(check_bias_gradient(a, f, need_data, &c->bias_grad));
    return need_data ? check_overlap(*c, f) : GYRE_OK;
}

} // namespace gyre
