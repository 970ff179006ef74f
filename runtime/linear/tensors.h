/// The tensors of linear attention and of its backward pass by their names: core/call_tensors.h.
#pragma once
#include "gyre/gyre.h"

namespace gyre {

/// What a call reads, and its backward pass again.
template <typename Visitor>
void each_input(gyre_linear_attention_args &args, Visitor &visit) {
    visit(args.q, "q");
    visit(args.k, "k");
    visit(args.v, "v");
    visit(args.seqused_k, "seqused_k");
    visit(args.cu_seqlens_q, "cu_seqlens_q");
    visit(args.cu_seqlens_k, "cu_seqlens_k");
    visit(args.q_positions, "q_positions");
    visit(args.k_positions, "k_positions");
    visit(args.kv_state, "kv_state");
    visit(args.k_state, "k_state");
    visit(args.rope, "rope.cos", "rope.sin");
}

template <typename Visitor>
void each_tensor(gyre_linear_attention_args &args, Visitor &visit) {
    each_input(args, visit);
    visit(args.out, "out");
    visit(args.kv_state_out, "kv_state_out");
    visit(args.k_state_out, "k_state_out");
}

/// Those that the backward pass adds to the forward call's inputs.
template <typename Visitor>
void each_tensor(gyre_linear_attention_backward_args &args, Visitor &visit) {
    visit(args.out_grad, "out_grad");
    visit(args.q_grad, "q_grad");
    visit(args.k_grad, "k_grad");
    visit(args.v_grad, "v_grad");
    visit(args.kv_state_out_grad, "kv_state_out_grad");
    visit(args.k_state_out_grad, "k_state_out_grad");
    visit(args.kv_state_grad, "kv_state_grad");
    visit(args.k_state_grad, "k_state_grad");
}

} // namespace gyre
