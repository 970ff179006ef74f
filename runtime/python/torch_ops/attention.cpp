// gyre::attention, gyre::attention_out and gyre::attention_backward.
#include "attention.h"

#include <tuple>
#include <vector>

namespace gyre_torch {

void set_frequencies(const Tensor &inv_freq, const char *name, gyre_rope *rope) {
    const gyre_tensor frequencies = view(inv_freq, name);
    STD_TORCH_CHECK(frequencies.rank == 1 && frequencies.dtype == GYRE_F64 &&
                        (frequencies.shape[0] < 2 || frequencies.strides[0] == 1),
                    name, ": expected frequencies, a contiguous float64 tensor [rotary_dim / 2]");
    STD_TORCH_CHECK(frequencies.shape[0] < INT32_MAX / 2, name, ": got more frequencies than a head has features");
    rope->inv_freq = static_cast<const double *>(frequencies.data);
    rope->rotary_dim = static_cast<int32_t>(2 * frequencies.shape[0]);
}

void AttentionArguments::fill(const Tensor &q, const Tensor &k, const Tensor &v, GYRE_ATTENTION_PARAMETERS) {
    args.layout = static_cast<gyre_layout>(layout);
    args.q = view(q, "q");
    args.k = view(k, "k");
    args.v = view(v, "v");
    args.bias = views(bias, "bias");
    args.mask = views(mask, "mask");
    args.sinks = views(sinks, "sinks");
    args.alibi = views(alibi, "alibi");
    args.seqused_k = views(seqused_k, "seqused_k");
    args.cu_seqlens_q = views(cu_seqlens_q, "cu_seqlens_q");
    args.cu_seqlens_k = views(cu_seqlens_k, "cu_seqlens_k");
    args.page_table = views(block_table, "block_table");
    args.q_positions = views(q_positions, "q_positions");
    args.k_positions = views(k_positions, "k_positions");
    for (gyre_rope *each : {&rope, &value_rope}) each->pairing = interleaved ? GYRE_INTERLEAVED : GYRE_HALF;
    rope.attention_factor = rope_factor;
    if (inv_freq) {
        set_frequencies(*inv_freq, "inv_freq", &rope);
        args.rope = &rope;
    }
    if (value_inv_freq) {
        set_frequencies(*value_inv_freq, "value_inv_freq", &value_rope);
        args.value_rope = &value_rope;
    }
    args.scale = static_cast<float>(scale);
    args.softcap = static_cast<float>(softcap);
    args.causal = causal;
    args.alignment = top_left ? GYRE_TOP_LEFT : GYRE_BOTTOM_RIGHT;
    args.window_left = window_left;
    args.window_right = window_right;
    args.keys_rotated = keys_rotated;
    args.values_rotated = values_rotated;
    args.dropout = static_cast<float>(dropout);
    args.dropout_seed = static_cast<uint64_t>(dropout_seed);
    args.dropout_offset = static_cast<uint32_t>(dropout_offset);
}

namespace {

void run(const Tensor &q, const Tensor &k, const Tensor &v, const Tensor &out, const OptionalTensor &lse,
         GYRE_ATTENTION_PARAMETERS) {
    AttentionArguments call;
    call.fill(q, k, v, GYRE_ATTENTION_ARGUMENTS);
    call.args.out = view(out, "out");
    call.args.lse = call.views(lse, "lse");
    check(gyre_attention(context(), &call.args));
}

void attention_out(Tensor q, Tensor k, Tensor v, Tensor out, OptionalTensor lse, GYRE_ATTENTION_PARAMETERS) {
    run(q, k, v, out, lse, GYRE_ATTENTION_ARGUMENTS);
}

/// out lies in memory as bshd or thd: what follows attention in models joins the heads of a token.
std::tuple<Tensor, Tensor> attention(Tensor q, Tensor k, Tensor v, GYRE_ATTENTION_PARAMETERS) {
    const bool packed = layout == GYRE_THD, heads_first = layout == GYRE_BHSD;
    const int64_t rank = packed ? 3 : 4;
    STD_TORCH_CHECK(q.dim() == rank, "q: got rank ", q.dim(), ", expected ", rank);
    STD_TORCH_CHECK(v.dim() >= 1, "v: got rank 0, expected ", rank);
    const int64_t batch = q.size(0), dim = v.size(v.dim() - 1);
    const int64_t tokens = packed ? q.size(0) : q.size(heads_first ? 2 : 1),
                  heads = q.size(heads_first || packed ? 1 : 2);
    const std::vector<int64_t> shape =
        packed ? std::vector<int64_t>{tokens, heads, dim} : std::vector<int64_t>{batch, tokens, heads, dim};
    const std::vector<int64_t> lse_shape =
        packed ? std::vector<int64_t>{heads, tokens} : std::vector<int64_t>{batch, heads, tokens};
    Tensor out = torch::stable::new_empty(q, shape);
    if (heads_first) out = torch::stable::transpose(out, 1, 2);
    Tensor lse = torch::stable::new_empty(q, lse_shape, torch::headeronly::ScalarType::Float);
    run(q, k, v, out, lse, GYRE_ATTENTION_ARGUMENTS);
    return {out, lse};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> attention_backward(Tensor out_grad, Tensor q, Tensor k, Tensor v, Tensor out,
                                                              Tensor lse, bool need_bias_grad,
                                                              GYRE_ATTENTION_PARAMETERS) {
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
    m.def("attention(Tensor q, Tensor k, Tensor v, " GYRE_ATTENTION_SCHEMA ") -> (Tensor, Tensor)");
    m.def("attention_out(Tensor q, Tensor k, Tensor v, Tensor(a!) out, Tensor(b!)? lse, " GYRE_ATTENTION_SCHEMA
          ") -> ()");
    m.def("attention_backward(Tensor out_grad, Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, "
          "bool need_bias_grad, " GYRE_ATTENTION_SCHEMA ") -> (Tensor, Tensor, Tensor, Tensor)");
}
STABLE_TORCH_LIBRARY_IMPL(gyre, CPU, m) {
    m.impl("attention", TORCH_BOX(&gyre_torch::attention));
    m.impl("attention_out", TORCH_BOX(&gyre_torch::attention_out));
    m.impl("attention_backward", TORCH_BOX(&gyre_torch::attention_backward));
}
