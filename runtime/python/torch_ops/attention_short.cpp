// gyre::_attention_short: calls with few options, packed into few arguments.
#include "attention.h"
#include "boxing.h"

#include <array>
#include <tuple>

namespace gyre_torch {
namespace {

/// What PyTorch passes for each argument takes 70 ns, and attention_forward() has 30. gyre/torch/_attention_short.py packs these.
///     first, second   options that are tensors: bias and those after it in GYRE_ATTENTION_SCHEMA
///     flags           bits 0 to 4: causal, top_left, interleaved, keys_rotated, values_rotated; 8 and 9: the layout;
///                     16 to 19 and 20 to 23: which options first and second are, by their places in the schema
///     window          window_left in the lower 32 bits, window_right in the upper
#define GYRE_SHORT_SCHEMA                                                                                              \
    "Tensor q, Tensor k, Tensor v, Tensor? first, Tensor? second, float scale, float softcap, int flags, int window"
#define GYRE_SHORT_PARAMETERS                                                                                          \
    const Tensor &q, const Tensor &k, const Tensor &v, OptionalTensor &first, OptionalTensor &second, double scale,    \
        double softcap, int64_t flags, int64_t window

constexpr std::size_t places = 13; // of options that are tensors

/// The tensor of the option whose place in the schema `flags` hold from `bit` on. Errors: throws.
OptionalTensor &place_of(std::array<OptionalTensor, places> *tensors, int64_t flags, int bit) {
    const auto place = static_cast<std::size_t>(flags >> bit & 15);
    expect(place < places, "flags: got place ", place, ", expected 0 .. ", places - 1);
    return (*tensors)[place];
}

int64_t layout_of(int64_t flags) { return flags >> 8 & 3; }

void fill(AttentionArguments *call, GYRE_SHORT_PARAMETERS) {
    std::array<OptionalTensor, places> tensors;
    if (first) place_of(&tensors, flags, 16).emplace(std::move(*first));
    if (second) place_of(&tensors, flags, 20).emplace(std::move(*second));
    const auto has = [flags](int bit) { return (flags >> bit & 1) != 0; };
    const auto &[bias, mask, sinks, alibi, seqused_k, cu_seqlens_q, cu_seqlens_k, block_table, q_positions, k_positions,
                 inv_freq, value_inv_freq, prepared_mask] = tensors;
    call->fill(q, k, v, bias, mask, sinks, alibi, seqused_k, cu_seqlens_q, cu_seqlens_k, block_table, q_positions,
               k_positions, inv_freq, value_inv_freq, prepared_mask, scale, softcap, has(0), has(1),
               static_cast<int32_t>(window), window >> 32, has(2), 1.0, has(3), has(4), 0.0, 0, 0, layout_of(flags));
}

Tensor attention_short(GYRE_SHORT_PARAMETERS) {
    AttentionArguments call;
    fill(&call, q, k, v, first, second, scale, softcap, flags, window);
    Tensor out = new_out(call.args.q, call.args.v, layout_of(flags));
    run(&call, out, nullptr);
    return out;
}

std::tuple<Tensor, Tensor> attention_short_with_lse(GYRE_SHORT_PARAMETERS) {
    AttentionArguments call;
    fill(&call, q, k, v, first, second, scale, softcap, flags, window);
    Tensor out = new_out(call.args.q, call.args.v, layout_of(flags)), lse = new_lse(call.args.q, layout_of(flags));
    run(&call, out, &lse);
    return {std::move(out), std::move(lse)};
}

} // namespace
} // namespace gyre_torch

STABLE_TORCH_LIBRARY_FRAGMENT(gyre, m) {
    m.def("_attention_short(" GYRE_SHORT_SCHEMA ") -> Tensor");
    m.def("_attention_short_with_lse(" GYRE_SHORT_SCHEMA ") -> (Tensor, Tensor)");
}
STABLE_TORCH_LIBRARY_IMPL(gyre, CPU, m) {
    m.impl("_attention_short", gyre_torch::boxed<gyre_torch::attention_short>);
    m.impl("_attention_short_with_lse", gyre_torch::boxed<gyre_torch::attention_short_with_lse>);
}
