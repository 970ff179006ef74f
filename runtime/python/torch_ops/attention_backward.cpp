// gyre::attention_backward.
#include "attention.h"

#include <tuple>
#include <vector>

namespace gyre_torch {
namespace {

std::tuple<Tensor, Tensor, Tensor, Tensor> attention_backward(const Tensor &out_grad, const Tensor &q, const Tensor &k,
                                                              const Tensor &v, const Tensor &out, const Tensor &lse,
                                                              bool need_bias_grad, GYRE_ATTENTION_PARAMETERS) {
    AttentionArguments call;
    call.fill(q, k, v, GYRE_ATTENTION_ARGUMENTS);
    call.args.out = view(out, "out");
    call.args.lse = call.views(lse, "lse");
    Tensor grads[3] = {torch::stable::empty_like(q), torch::stable::empty_like(k), torch::stable::empty_like(v)};
    gyre_attention_backward_args backward = gyre_attention_backward_defaults();
    backward.forward = &call.args;
    backward.out_grad = view(out_grad, "out_grad");
    backward.q_grad = view(grads[0], "q_grad");
    backward.k_grad = view(grads[1], "k_grad");
    backward.v_grad = view(grads[2], "v_grad");
    std::vector<int64_t> bias_shape = {0};
    if (need_bias_grad && bias) bias_shape.assign(bias->sizes().begin(), bias->sizes().end());
    Tensor bias_grad = torch::stable::new_empty(q, bias_shape, torch::headeronly::ScalarType::Float);
    if (need_bias_grad && bias) backward.bias_grad = call.views(bias_grad, "bias_grad");
    check(gyre_attention_backward(context(), &backward));
    return {grads[0], grads[1], grads[2], bias_grad};
}

} // namespace
} // namespace gyre_torch

STABLE_TORCH_LIBRARY_FRAGMENT(gyre, m) {
    m.def("attention_backward(Tensor out_grad, Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, "
          "bool need_bias_grad, " GYRE_ATTENTION_SCHEMA ") -> (Tensor, Tensor, Tensor, Tensor)");
}
STABLE_TORCH_LIBRARY_IMPL(gyre, CPU, m) { m.impl("attention_backward", TORCH_BOX(&gyre_torch::attention_backward)); }
