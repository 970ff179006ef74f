/// A checked call of attention's backward pass: the forward call that it belongs to, and the gradients' views.
#pragma once
#include "attention/call.h"

namespace gyre {

struct BackwardCall {
    AttentionCall forward; // its out and lse are read
    Heads out_grad;
    Heads q_grad, k_grad, v_grad; // written
};

/// Checks every argument. With `need_data` false data pointers may be NULL and values behind them are not read.
gyre_status check_backward(const gyre_attention_backward_args &args, bool need_data, gyre_attention_args *forward,
                           BackwardCall *call);

} // namespace gyre
