// gyre::attention_backward.
#include "attention.h"
#include "boxing.h"

#include <tuple>

namespace gyre_torch {
namespace {

std::tuple<Tensor, Tensor, Tensor, Tensor> attention_backward(const Tensor &out_grad, const Tensor &q, const Tensor &k,
                                                              const Tensor &v, const Tensor &out, const Tensor &lse,
                                                              bool need_bias_grad, GYRE_ATTENTION_PARAMETERS) {
    AttentionArguments call;
    call.fill(q, k, v, GYRE_ATTENTION_ARGUMENTS);
    call.args.out = view(out, "out");
    call.args.lse = call.views(lse, "lse");
    Tensor grads[3] = {empty_like(q), empty_like(k), empty_like(v)};
    gyre_attention_backward_args backward = gyre_attention_backward_defaults();
    backward.forward = &call.args;
    backward.out_grad = view(out_grad, "out_grad");
    backward.q_grad = view(grads[0], "q_grad");
    backward.k_grad = view(grads[1], "k_grad");
    backward.v_grad = view(grads[2], "v_grad");
    const int64_t none[] = {0};
    const bool wanted = need_bias_grad && bias;
    Tensor bias_grad = empty(wanted ? bias->sizes() : std::span<const int64_t>(none), GYRE_F32);
    if (wanted) backward.bias_grad = call.views(bias_grad, "bias_grad");
    check(gyre_attention_backward(context(), &backward));
    return {std::move(grads[0]), std::move(grads[1]), std::move(grads[2]), std::move(bias_grad)};
}

} // namespace
} // namespace gyre_torch

STABLE_TORCH_LIBRARY_FRAGMENT(gyre, m) {
    m.def("attention_backward(Tensor out_grad, Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, "
          "bool need_bias_grad, " GYRE_ATTENTION_SCHEMA ") -> (Tensor, Tensor, Tensor, Tensor)");
}
STABLE_TORCH_LIBRARY_IMPL(gyre, CPU, m) {
    m.impl("attention_backward", gyre_torch::boxed<gyre_torch::attention_backward>);
}
