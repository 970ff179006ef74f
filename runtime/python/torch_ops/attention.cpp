// gyre::attention, and its forms without gradients, without lse, and for results of the caller's.
#include "attention.h"
#include "boxing.h"

#include <cstdint>
#include <tuple>

namespace gyre_torch {

void set_frequencies(const Tensor &inv_freq, const char *name, gyre_rope *rope) {
    const gyre_tensor frequencies = view(inv_freq, name);
    expect(frequencies.rank == 1 && frequencies.dtype == GYRE_F64 &&
               (frequencies.shape[0] < 2 || frequencies.strides[0] == 1),
           name, ": expected frequencies, a contiguous float64 tensor [rotary_dim / 2]");
    expect(frequencies.shape[0] > 0, name, ": got no frequencies, expected at least one");
    expect(frequencies.shape[0] < INT32_MAX / 2, name, ": got more frequencies than a head has features");
    rope->inv_freq = static_cast<const double *>(frequencies.data);
    rope->rotary_dim = static_cast<int32_t>(2 * frequencies.shape[0]);
}

void set_rope(const OptionalTensor &inv_freq, const char *name, bool interleaved, gyre_rope *rope,
              const gyre_rope **to) {
    rope->pairing = interleaved ? GYRE_INTERLEAVED : GYRE_HALF;
    if (!inv_freq) return;
    set_frequencies(*inv_freq, name, rope);
    *to = rope;
}

namespace {

void set_prepared_mask(const Tensor &prepared, gyre_attention_args *args) {
    const gyre_tensor words = view(prepared, "prepared_mask");
    expect(words.rank == 1 && words.dtype == GYRE_I64 && (words.shape[0] < 2 || words.strides[0] == 1),
           "prepared_mask: expected what gyre.torch.prepare_mask() returned");
    args->prepared_mask = words.data;
    args->prepared_mask_size = static_cast<size_t>(words.shape[0]) * sizeof(int64_t);
}

} // namespace

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
    if (prepared_mask) set_prepared_mask(*prepared_mask, &args);
    rope.attention_factor = rope_factor;
    set_rope(inv_freq, "inv_freq", interleaved, &rope, &args.rope);
    set_rope(value_inv_freq, "value_inv_freq", interleaved, &value_rope, &args.value_rope);
    args.scale = single(scale, "scale");
    args.softcap = single(softcap, "softcap");
    args.causal = causal;
    args.alignment = top_left ? GYRE_TOP_LEFT : GYRE_BOTTOM_RIGHT;
    args.window_left = window_left;
    args.window_right = window_right;
    args.keys_rotated = keys_rotated;
    args.values_rotated = values_rotated;
    args.dropout = static_cast<float>(dropout);
    expect(dropout_offset >= 0 && dropout_offset <= UINT32_MAX, "dropout_offset: got ", dropout_offset,
           ", expected 0 .. ", UINT32_MAX);
    args.dropout_seed = static_cast<uint64_t>(dropout_seed);
    args.dropout_offset = static_cast<uint32_t>(dropout_offset);
}

Tensor new_out(const gyre_tensor &q, const gyre_tensor &v, int64_t layout) {
    const int32_t rank = layout == GYRE_THD ? 3 : 4;
    expect(q.rank == rank, "q: got rank ", q.rank, ", expected ", rank);
    expect(v.rank >= 1, "v: got rank 0, expected ", rank);
    const int64_t v_head_dim = v.shape[v.rank - 1];
    const int64_t sizes[] = {q.shape[0], q.shape[1], rank == 3 ? v_head_dim : q.shape[2], v_head_dim};
    if (rank == 3) return empty(sizes, {0, 1, 2}, q.dtype);
    return layout == GYRE_BHSD ? empty(sizes, {0, 2, 1, 3}, q.dtype) : empty(sizes, {0, 1, 2, 3}, q.dtype);
}

Tensor new_lse(const gyre_tensor &q, int64_t layout) {
    const int64_t packed[] = {q.shape[1], q.shape[0]};
    if (layout == GYRE_THD) return empty(packed, {0, 1}, GYRE_F32);
    const int64_t sizes[] = {q.shape[0], q.shape[layout == GYRE_BHSD ? 1 : 2], q.shape[layout == GYRE_BHSD ? 2 : 1]};
    return empty(sizes, {0, 1, 2}, GYRE_F32);
}

void run(AttentionArguments *call, const Tensor &out, const Tensor *lse) {
    call->args.out = view(out, "out");
    if (lse) call->args.lse = call->views(*lse, "lse");
    check(gyre_attention(context(), &call->args));
}

namespace {

void attention_out(const Tensor &q, const Tensor &k, const Tensor &v, const Tensor &out, const OptionalTensor &lse,
                   GYRE_ATTENTION_PARAMETERS) {
    AttentionArguments call;
    call.fill(q, k, v, GYRE_ATTENTION_ARGUMENTS);
    run(&call, out, lse ? &*lse : nullptr);
}

std::tuple<Tensor, Tensor> attention(const Tensor &q, const Tensor &k, const Tensor &v, GYRE_ATTENTION_PARAMETERS) {
    AttentionArguments call;
    call.fill(q, k, v, GYRE_ATTENTION_ARGUMENTS);
    Tensor out = new_out(call.args.q, call.args.v, layout), lse = new_lse(call.args.q, layout);
    run(&call, out, &lse);
    return {std::move(out), std::move(lse)};
}

/// Leaves out what gradients need: lse, and a formula of them, which takes its time even where none are recorded. attention_with_lse is
/// attention() without the formula.
Tensor attention_forward(const Tensor &q, const Tensor &k, const Tensor &v, GYRE_ATTENTION_PARAMETERS) {
    AttentionArguments call;
    call.fill(q, k, v, GYRE_ATTENTION_ARGUMENTS);
    Tensor out = new_out(call.args.q, call.args.v, layout);
    run(&call, out, nullptr);
    return out;
}

} // namespace
} // namespace gyre_torch

STABLE_TORCH_LIBRARY_FRAGMENT(gyre, m) {
    m.def("attention(Tensor q, Tensor k, Tensor v, " GYRE_ATTENTION_SCHEMA ") -> (Tensor, Tensor)");
    m.def("attention_forward(Tensor q, Tensor k, Tensor v, " GYRE_ATTENTION_SCHEMA ") -> Tensor");
    m.def("attention_with_lse(Tensor q, Tensor k, Tensor v, " GYRE_ATTENTION_SCHEMA ") -> (Tensor, Tensor)");
    m.def("attention_out(Tensor q, Tensor k, Tensor v, Tensor(a!) out, Tensor(b!)? lse, " GYRE_ATTENTION_SCHEMA
          ") -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(gyre, CPU, m) {
    m.impl("attention", gyre_torch::boxed<gyre_torch::attention>);
    m.impl("attention_forward", gyre_torch::boxed<gyre_torch::attention_forward>);
    m.impl("attention_with_lse", gyre_torch::boxed<gyre_torch::attention>);
    m.impl("attention_out", gyre_torch::boxed<gyre_torch::attention_out>);
}
