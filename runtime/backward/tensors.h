/// The tensors of attention's backward pass by their names: core/call_tensors.h.
#pragma once
#include "gyre/gyre.h"

namespace gyre {

/// Those that it adds to the forward call's.
template <typename Visitor>
void each_tensor(gyre_attention_backward_args &args, Visitor &visit) {
    visit(args.out_grad, "out_grad");
    visit(args.q_grad, "q_grad");
    visit(args.k_grad, "k_grad");
    visit(args.v_grad, "v_grad");
    visit(args.bias_grad, "bias_grad");
}

} // namespace gyre
