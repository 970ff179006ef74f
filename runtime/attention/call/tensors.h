/// The tensors of gyre_attention() and gyre_attention_merge().
#pragma once
#include "gyre/gyre.h"

namespace gyre {

template <typename Visitor>
void each_tensor(gyre_attention_args &args, Visitor &visit) {
    visit(args.q, "q");
    visit(args.k, "k");
    visit(args.v, "v");
    visit(args.out, "out");
    visit(args.lse, "lse");
    visit(args.bias, "bias");
    visit(args.mask, "mask");
    visit(args.sinks, "sinks");
    visit(args.alibi, "alibi");
    visit(args.seqused_k, "seqused_k");
    visit(args.cu_seqlens_q, "cu_seqlens_q");
    visit(args.cu_seqlens_k, "cu_seqlens_k");
    visit(args.page_table, "page_table");
    visit(args.q_positions, "q_positions");
    visit(args.k_positions, "k_positions");
    visit(args.rope, "rope.cos", "rope.sin");
    visit(args.value_rope, "value_rope.cos", "value_rope.sin");
}

template <typename Visitor>
void each_tensor(gyre_attention_merge_args &args, Visitor &visit) {
    visit(args.part_out, "part_out");
    visit(args.part_lse, "part_lse");
    visit(args.out, "out");
    visit(args.lse, "lse");
}

} // namespace gyre
