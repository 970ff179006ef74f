// gyre::rotary and gyre::rotary_qk, with forms that write to tensors of the caller's.
#include "attention.h"
#include "boxing.h"

#include <tuple>

namespace gyre_torch {
namespace {

#define GYRE_ROTARY_SCHEMA                                                                                             \
    "Tensor? inv_freq=None, Tensor? cos=None, Tensor? sin=None, Tensor? positions=None, int position_offset=0, "       \
    "bool reverse=False, bool interleaved=False, int rotary_offset=0, float factor=1., int layout=1"
#define GYRE_ROTARY_PARAMETERS                                                                                         \
    const OptionalTensor &inv_freq, const OptionalTensor &cos, const OptionalTensor &sin,                              \
        const OptionalTensor &positions, int64_t position_offset, bool reverse, bool interleaved,                      \
        int64_t rotary_offset, double factor, int64_t layout
#define GYRE_ROTARY_ARGUMENTS                                                                                          \
    inv_freq, cos, sin, positions, position_offset, reverse, interleaved, rotary_offset, factor, layout

/// What is the same for one tensor and for two.
template <typename Arguments>
void fill(Arguments *args, Views *views, GYRE_ROTARY_PARAMETERS) {
    args->layout = static_cast<gyre_layout>(layout);
    args->reverse = reverse;
    args->positions = views->operator()(positions, "positions");
    args->position_offset = position_offset;
    gyre_rope &rope = args->rope;
    rope.pairing = interleaved ? GYRE_INTERLEAVED : GYRE_HALF;
    rope.rotary_offset = static_cast<int32_t>(rotary_offset);
    rope.attention_factor = factor;
    if (inv_freq) set_frequencies(*inv_freq, "inv_freq", &rope);
    rope.cos = views->operator()(cos, "cos");
    rope.sin = views->operator()(sin, "sin");
    if (rope.cos && rope.cos->rank > 0) rope.rotary_dim = static_cast<int32_t>(2 * rope.cos->shape[rope.cos->rank - 1]);
}

void rotary_out(const Tensor &x, const Tensor &out, GYRE_ROTARY_PARAMETERS) {
    gyre_rotary_args args = gyre_rotary_defaults();
    Views views;
    fill(&args, &views, GYRE_ROTARY_ARGUMENTS);
    args.x = view(x, "x");
    args.out = view(out, "out");
    check(gyre_rotary(context(), &args));
}

void rotary_qk_out(const Tensor &q, const Tensor &k, const Tensor &q_out, const Tensor &k_out, GYRE_ROTARY_PARAMETERS) {
    gyre_rotary_qk_args args = gyre_rotary_qk_defaults();
    Views views;
    fill(&args, &views, GYRE_ROTARY_ARGUMENTS);
    args.q = view(q, "q");
    args.k = view(k, "k");
    args.q_out = view(q_out, "q_out");
    args.k_out = view(k_out, "k_out");
    check(gyre_rotary_qk(context(), &args));
}

Tensor rotary(const Tensor &x, GYRE_ROTARY_PARAMETERS) {
    Tensor out = empty_like(x);
    rotary_out(x, out, GYRE_ROTARY_ARGUMENTS);
    return out;
}

std::tuple<Tensor, Tensor> rotary_qk(const Tensor &q, const Tensor &k, GYRE_ROTARY_PARAMETERS) {
    Tensor q_out = empty_like(q), k_out = empty_like(k);
    rotary_qk_out(q, k, q_out, k_out, GYRE_ROTARY_ARGUMENTS);
    return {std::move(q_out), std::move(k_out)};
}

} // namespace
} // namespace gyre_torch

STABLE_TORCH_LIBRARY_FRAGMENT(gyre, m) {
    m.def("rotary(Tensor x, " GYRE_ROTARY_SCHEMA ") -> Tensor");
    m.def("rotary_out(Tensor x, Tensor(a!) out, " GYRE_ROTARY_SCHEMA ") -> ()");
    m.def("rotary_qk(Tensor q, Tensor k, " GYRE_ROTARY_SCHEMA ") -> (Tensor, Tensor)");
    m.def("rotary_qk_out(Tensor q, Tensor k, Tensor(a!) q_out, Tensor(b!) k_out, " GYRE_ROTARY_SCHEMA ") -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(gyre, CPU, m) {
    m.impl("rotary", gyre_torch::boxed<gyre_torch::rotary>);
    m.impl("rotary_out", gyre_torch::boxed<gyre_torch::rotary_out>);
    m.impl("rotary_qk", gyre_torch::boxed<gyre_torch::rotary_qk>);
    m.impl("rotary_qk_out", gyre_torch::boxed<gyre_torch::rotary_qk_out>);
}
