// gyre::attention_plain: calls without options, which take the less time the fewer arguments they have.
#include "attention.h"
#include "boxing.h"

namespace gyre_torch {
namespace {

/// attention_forward() of calls that say no more: PyTorch takes 60 ns for each argument, and so few take 1 us less.
Tensor attention_plain(const Tensor &q, const Tensor &k, const Tensor &v, double scale, bool causal, int64_t layout) {
    gyre_attention_args args = gyre_attention_defaults();
    args.layout = static_cast<gyre_layout>(layout);
    args.q = view(q, "q");
    args.k = view(k, "k");
    args.v = view(v, "v");
    Tensor out = new_out(args.q, args.v, layout);
    args.out = view(out, "out");
    args.scale = single(scale, "scale");
    args.causal = causal;
    check(gyre_attention(context(), &args));
    return out;
}

/// attention_plain() of [batch, heads, seqlen, head_dim] for callers that have seen that no gradients are recorded.
Tensor attention_unrecorded(const Tensor &q, const Tensor &k, const Tensor &v, double scale, bool causal) {
    return attention_plain(q, k, v, scale, causal, GYRE_BHSD);
}

} // namespace
} // namespace gyre_torch

STABLE_TORCH_LIBRARY_FRAGMENT(gyre, m) {
    m.def("attention_plain(Tensor q, Tensor k, Tensor v, float scale=0., bool causal=False, int layout=1) -> Tensor");
    m.def("_attention_unrecorded(Tensor q, Tensor k, Tensor v, float scale, bool causal) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(gyre, CPU, m) {
    m.impl("attention_plain", gyre_torch::boxed<gyre_torch::attention_plain>);
    m.impl("_attention_unrecorded", gyre_torch::boxed<gyre_torch::attention_unrecorded>);
}
