// gyre::cache_append: new keys and values into a cache of the caller's.
#include "attention.h"
#include "boxing.h"

namespace gyre_torch {
namespace {

void cache_append(const Tensor &k, const Tensor &v, const Tensor &k_cache, const Tensor &v_cache,
                  const OptionalTensor &cache_seqlens, const OptionalTensor &block_table,
                  const OptionalTensor &cu_seqlens_k, const OptionalTensor &positions, const OptionalTensor &inv_freq,
                  const OptionalTensor &value_inv_freq, bool interleaved, double rope_factor, int64_t layout,
                  int64_t cache_layout) {
    gyre_cache_append_args args = gyre_cache_append_defaults();
    gyre_rope rope = gyre_rope_defaults(), value_rope = gyre_rope_defaults();
    Views views;
    args.layout = static_cast<gyre_layout>(layout);
    args.cache_layout = static_cast<gyre_layout>(cache_layout);
    args.k = view(k, "k");
    args.v = view(v, "v");
    args.k_cache = view(k_cache, "k_cache");
    args.v_cache = view(v_cache, "v_cache");
    args.cache_seqlens = views(cache_seqlens, "cache_seqlens");
    args.page_table = views(block_table, "block_table");
    args.cu_seqlens_k = views(cu_seqlens_k, "cu_seqlens_k");
    args.positions = views(positions, "positions");
    rope.attention_factor = rope_factor;
    set_rope(inv_freq, "inv_freq", interleaved, &rope, &args.rope);
    set_rope(value_inv_freq, "value_inv_freq", interleaved, &value_rope, &args.value_rope);
    check(gyre_cache_append(context(), &args));
}

} // namespace
} // namespace gyre_torch

STABLE_TORCH_LIBRARY_FRAGMENT(gyre, m) {
    m.def("cache_append(Tensor k, Tensor v, Tensor(a!) k_cache, Tensor(b!) v_cache, Tensor? cache_seqlens=None, "
          "Tensor? block_table=None, Tensor? cu_seqlens_k=None, Tensor? positions=None, Tensor? inv_freq=None, "
          "Tensor? value_inv_freq=None, bool interleaved=False, float rope_factor=1., int layout=1, "
          "int cache_layout=1) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(gyre, CPU, m) { m.impl("cache_append", gyre_torch::boxed<gyre_torch::cache_append>); }
