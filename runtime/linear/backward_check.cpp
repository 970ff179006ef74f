// Checks of gyre_linear_attention_backward(): those of the forward call's inputs, and of what it adds to them.
#include "attention/check/check.h"
#include "core/arguments.h"
#include "core/error.h"
#include "linear/check.h"

#include <algorithm>

namespace gyre {
namespace {

/// A gradient of the shape and type of a tensor, but for the last extent.
gyre_status check_gradient(const gyre_tensor &given, const char *name, const gyre_tensor &of, const char *of_name,
                           int64_t dim, gyre_layout layout, bool need_data, Heads *view) {
    GYRE_TRY(view_heads(given, name, layout, {of.dtype}, need_data, view));
    if (!std::equal(of.shape, of.shape + of.rank - 1, given.shape) || view->dim != dim)
        return refuse(GYRE_BAD_SHAPE, name, "got shape %s, expected forward.%s's %s with head size %lld",
                      shape_text(given.shape, given.rank), of_name, shape_text(of.shape, of.rank),
                      static_cast<long long>(dim));
    if (!fits_index(view->seqlen, view->token_stride, view->dim))
        return refuse(GYRE_UNSUPPORTED, name, "one head's tokens reach over 2^31 elements");
    return GYRE_OK;
}

} // namespace

gyre_status check_linear_backward(const gyre_linear_attention_backward_args &a, bool need_data,
                                  gyre_linear_attention_args *forward, LinearBackwardCall *c) {
    GYRE_TRY(adopt(a.forward, "forward", gyre_linear_attention_defaults(), sizeof *forward, forward));
    const gyre_linear_attention_args &f = *forward;
    {
        const MembersOf forward_arguments("forward");
        GYRE_TRY(check_linear_inputs(f, need_data, false, &c->forward));
    }
    const AttentionCall &h = c->forward.heads;
    const int64_t dim = h.q.dim, v_dim = h.v.dim;
    GYRE_TRY(check_gradient(a.out_grad, "out_grad", f.q, "q", v_dim, f.layout, need_data, &c->out_grad));
    GYRE_TRY(check_gradient(a.q_grad, "q_grad", f.q, "q", dim, f.layout, need_data, &c->q_grad));
    GYRE_TRY(check_gradient(a.k_grad, "k_grad", f.k, "k", dim, f.layout, need_data, &c->k_grad));
    GYRE_TRY(check_gradient(a.v_grad, "v_grad", f.v, "v", v_dim, f.layout, need_data, &c->v_grad));
    LinearState &after = c->after_grad, &before = c->before_grad;
    GYRE_TRY(view_state(a.kv_state_out_grad, "kv_state_out_grad", a.k_state_out_grad, "k_state_out_grad", h, need_data,
                        &after));
    GYRE_TRY(view_state(a.kv_state_grad, "kv_state_grad", a.k_state_grad, "k_state_grad", h, need_data, &before));
    if (!need_data) return GYRE_OK;
    const Named written[] = {{&c->q_grad, "q_grad"},
                             {&c->k_grad, "k_grad"},
                             {&c->v_grad, "v_grad"},
                             {&before.kv, "kv_state_grad"},
                             {&before.k, "k_state_grad"}};
    const LinearState &state = c->forward.before;
    for (const Named *w = std::begin(written); w != std::end(written); w++) {
        GYRE_TRY(check_apart(*w, {{&h.q, "forward.q"},
                                  {&h.k, "forward.k"},
                                  {&h.v, "forward.v"},
                                  {&c->out_grad, "out_grad"},
                                  {&state.kv, "forward.kv_state"},
                                  {&state.k, "forward.k_state"},
                                  {&after.kv, "kv_state_out_grad"},
                                  {&after.k, "k_state_out_grad"}}));
        for (const Named *other = std::begin(written); other != w; other++) GYRE_TRY(check_apart(*w, {*other}));
    }
    const MembersOf forward_arguments("forward");
    return check_lists_apart(f, {{&c->q_grad, "q_grad"},
                                 {&c->k_grad, "k_grad"},
                                 {&c->v_grad, "v_grad"},
                                 {&before.kv, "kv_state_grad"},
                                 {&before.k, "k_state_grad"}});
}

} // namespace gyre
