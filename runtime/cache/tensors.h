/// The tensors of gyre_cache_append().
#pragma once
#include "gyre/gyre.h"

namespace gyre {

template <typename Visitor>
void each_tensor(gyre_cache_append_args &args, Visitor &visit) {
    visit(args.k, "k");
    visit(args.v, "v");
    visit(args.k_cache, "k_cache");
    visit(args.v_cache, "v_cache");
    visit(args.cu_seqlens_k, "cu_seqlens_k");
    visit(args.cache_seqlens, "cache_seqlens");
    visit(args.page_table, "page_table");
    visit(args.positions, "positions");
    visit(args.rope, "rope.cos", "rope.sin");
    visit(args.value_rope, "value_rope.cos", "value_rope.sin");
}

} // namespace gyre
