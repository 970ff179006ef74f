/// The tensors of gyre_rotary() and gyre_rotary_qk().
#pragma once
#include "gyre/gyre.h"

namespace gyre {

template <typename Visitor>
void each_tensor(gyre_rotary_args &args, Visitor &visit) {
    visit(args.x, "x");
    visit(args.out, "out");
    visit(args.positions, "positions");
    visit(args.rope, "rope.cos", "rope.sin");
}

template <typename Visitor>
void each_tensor(gyre_rotary_qk_args &args, Visitor &visit) {
    visit(args.q, "q");
    visit(args.q_out, "q_out");
    visit(args.k, "k");
    visit(args.k_out, "k_out");
    visit(args.positions, "positions");
    visit(args.rope, "rope.cos", "rope.sin");
}

} // namespace gyre
