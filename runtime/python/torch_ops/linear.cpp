// gyre::linear_attention and gyre::linear_attention_backward.
#include "attention.h"
#include "boxing.h"

#include <tuple>

namespace gyre_torch {
namespace {

#define GYRE_LINEAR_SCHEMA                                                                                             \
    "Tensor? kv_state=None, Tensor? k_state=None, Tensor? seqused_k=None, Tensor? cu_seqlens_q=None, "                 \
    "Tensor? cu_seqlens_k=None, Tensor? q_positions=None, Tensor? k_positions=None, Tensor? inv_freq=None, "           \
    "bool causal=False, bool interleaved=False, float rope_factor=1., int layout=1"
#define GYRE_LINEAR_PARAMETERS                                                                                         \
    const OptionalTensor &kv_state, const OptionalTensor &k_state, const OptionalTensor &seqused_k,                    \
        const OptionalTensor &cu_seqlens_q, const OptionalTensor &cu_seqlens_k, const OptionalTensor &q_positions,     \
        const OptionalTensor &k_positions, const OptionalTensor &inv_freq, bool causal, bool interleaved,              \
        double rope_factor, int64_t layout
#define GYRE_LINEAR_ARGUMENTS                                                                                          \
    kv_state, k_state, seqused_k, cu_seqlens_q, cu_seqlens_k, q_positions, k_positions, inv_freq, causal, interleaved, \
        rope_factor, layout

/// A call's arguments; what they point to is in here, too.
struct LinearArguments {
    gyre_linear_attention_args args = gyre_linear_attention_defaults();
    gyre_rope rope = gyre_rope_defaults();
    Views views;

    /// Everything but out and the states after the call. Errors: throws.
    void fill(const Tensor &q, const Tensor &k, const Tensor &v, GYRE_LINEAR_PARAMETERS) {
        args.layout = static_cast<gyre_layout>(layout);
        args.q = view(q, "q");
        args.k = view(k, "k");
        args.v = view(v, "v");
        args.causal = causal;
        args.kv_state = views(kv_state, "kv_state");
        args.k_state = views(k_state, "k_state");
        args.seqused_k = views(seqused_k, "seqused_k");
        args.cu_seqlens_q = views(cu_seqlens_q, "cu_seqlens_q");
        args.cu_seqlens_k = views(cu_seqlens_k, "cu_seqlens_k");
        args.q_positions = views(q_positions, "q_positions");
        args.k_positions = views(k_positions, "k_positions");
        rope.attention_factor = rope_factor;
        set_rope(inv_freq, "inv_freq", interleaved, &rope, &args.rope);
    }
};

/// kv_state [sequences, kv heads, head_dim, v_head_dim] and k_state [sequences, kv heads, head_dim], f32, not filled.
std::tuple<Tensor, Tensor> new_states(const Tensor &k, const Tensor &v, const OptionalTensor &cu_seqlens_q,
                                      int64_t layout) {
    const int64_t rank = layout == GYRE_THD ? 3 : 4;
    expect(k.dim() == rank, "k: got rank ", k.dim(), ", expected ", rank);
    expect(v.dim() == rank, "v: got rank ", v.dim(), ", expected ", rank);
    expect(layout != GYRE_THD || (cu_seqlens_q && cu_seqlens_q->dim() == 1 && cu_seqlens_q->size(0) > 0),
           "cu_seqlens_q: expected [batch + 1] with packed sequences");
    const int64_t sequences = layout == GYRE_THD ? cu_seqlens_q->size(0) - 1 : k.size(0);
    const int64_t heads = k.size(layout == GYRE_BSHD ? 2 : 1);
    const int64_t shape[] = {sequences, heads, k.size(rank - 1), v.size(rank - 1)};
    return {empty(shape, {0, 1, 2, 3}, GYRE_F32), empty(shape, {0, 1, 2}, GYRE_F32)};
}

std::tuple<Tensor, Tensor> no_states() {
    const int64_t none = 0;
    return {empty(&none, {0}, GYRE_F32), empty(&none, {0}, GYRE_F32)};
}

std::tuple<Tensor, Tensor, Tensor> linear_attention(const Tensor &q, const Tensor &k, const Tensor &v,
                                                    bool return_state, GYRE_LINEAR_PARAMETERS) {
    LinearArguments call;
    call.fill(q, k, v, GYRE_LINEAR_ARGUMENTS);
    Tensor out = new_out(call.args.q, call.args.v, layout);
    call.args.out = view(out, "out");
    auto [kv_after, k_after] = return_state ? new_states(k, v, cu_seqlens_q, layout) : no_states();
    if (return_state) {
        call.args.kv_state_out = call.views(kv_after, "kv_state_out");
        call.args.k_state_out = call.views(k_after, "k_state_out");
    }
    check(gyre_linear_attention(context(), &call.args));
    return {std::move(out), std::move(kv_after), std::move(k_after)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> linear_attention_backward(const Tensor &out_grad,
                                                                             const OptionalTensor &kv_state_out_grad,
                                                                             const OptionalTensor &k_state_out_grad,
                                                                             const Tensor &q, const Tensor &k,
                                                                             const Tensor &v, GYRE_LINEAR_PARAMETERS) {
    LinearArguments call;
    call.fill(q, k, v, GYRE_LINEAR_ARGUMENTS);
    Tensor grads[3] = {empty_like(q), empty_like(k), empty_like(v)};
    gyre_linear_attention_backward_args backward = gyre_linear_attention_backward_defaults();
    backward.forward = &call.args;
    backward.out_grad = view(out_grad, "out_grad");
    backward.q_grad = view(grads[0], "q_grad");
    backward.k_grad = view(grads[1], "k_grad");
    backward.v_grad = view(grads[2], "v_grad");
    backward.kv_state_out_grad = call.views(kv_state_out_grad, "kv_state_out_grad");
    backward.k_state_out_grad = call.views(k_state_out_grad, "k_state_out_grad");
    auto [kv_grad, k_grad] = kv_state ? new_states(k, v, cu_seqlens_q, layout) : no_states();
    if (kv_state) {
        backward.kv_state_grad = call.views(kv_grad, "kv_state_grad");
        backward.k_state_grad = call.views(k_grad, "k_state_grad");
    }
    check(gyre_linear_attention_backward(context(), &backward));
    return {std::move(grads[0]), std::move(grads[1]), std::move(grads[2]), std::move(kv_grad), std::move(k_grad)};
}

} // namespace
} // namespace gyre_torch

STABLE_TORCH_LIBRARY_FRAGMENT(gyre, m) {
    m.def("linear_attention(Tensor q, Tensor k, Tensor v, bool return_state=False, " GYRE_LINEAR_SCHEMA
          ") -> (Tensor, Tensor, Tensor)");
    m.def("linear_attention_backward(Tensor out_grad, Tensor? kv_state_out_grad, Tensor? k_state_out_grad, Tensor q, "
          "Tensor k, Tensor v, " GYRE_LINEAR_SCHEMA ") -> (Tensor, Tensor, Tensor, Tensor, Tensor)");
}
STABLE_TORCH_LIBRARY_IMPL(gyre, CPU, m) {
    m.impl("linear_attention", gyre_torch::boxed<gyre_torch::linear_attention>);
    m.impl("linear_attention_backward", gyre_torch::boxed<gyre_torch::linear_attention_backward>);
}
