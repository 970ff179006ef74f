/// A checked call of attention's backward pass: the forward call that it belongs to, and the gradients' views.
#pragma once
#include "attention/call/call.h"

namespace gyre {

/// The gradient of a bias, of whose elements each sums over what the bias is repeated for.
struct BiasGradient {
    float *data = nullptr;   // NULL: not wanted
    int64_t shape[4] = {};   // of [batch, num_heads, seqlen_q, seqlen_kv]; 1: repeated
    int64_t strides[4] = {}; // elements

    /// The tensor as heads, of seqlen_kv features each.
    Heads as_heads() const {
        return {reinterpret_cast<char *>(data),
                GYRE_F32,
                shape[0],
                shape[2],
                shape[1],
                shape[3],
                strides[0],
                strides[2],
                strides[1]};
    }
};

struct BackwardCall {
    AttentionCall forward; // its out and lse are read
    Heads out_grad;
    Heads q_grad, k_grad, v_grad; // written
    BiasGradient bias_grad;       // likewise
};

/// Checks every argument. With `need_data` false data pointers may be NULL and values behind them are not read. `read_lists` false: nor
/// is what lists and positions hold, which then is on a device.
gyre_status check_backward(const gyre_attention_backward_args &args, bool need_data, gyre_attention_args *forward,
                           BackwardCall *call, bool read_lists = true);

} // namespace gyre
