/// Checked calls of linear attention and of its gradients.
#pragma once
#include "attention/call/call.h"

namespace gyre {

/// What stands for tokens that a call does not read, or its gradient. Without data: zeros, or not wanted.
struct LinearState {
    Heads kv; // [sequences, num_kv_heads, head_dim, v_head_dim]  sum of k v^T: batch, heads, seqlen, dim
    Heads k;  // [sequences, num_kv_heads, head_dim]              sum of k, not rotated; seqlen 1
};

struct LinearCall {
    AttentionCall heads; // q, k, v, out, the sequences, rope and positions
    bool causal = false;
    bool same_tokens = false; // keys stand where queries do: their angles are the same
    LinearState before, after;

    Sequence sequence(int64_t index) const {
        Sequence s = heads.sequence(index);
        s.k_len = heads.existing_keys(index);
        return s;
    }
};

/// A call of the backward pass. It does not look at the forward call's out, nor at the states that this call left.
struct LinearBackwardCall {
    LinearCall forward;
    Heads out_grad;
    Heads q_grad, k_grad, v_grad;        // written
    LinearState after_grad, before_grad; // the first read, the second written
};

/// Check every argument. With `need_data` false data pointers may be NULL and values behind them are not read. `read_lists` false: nor is what
/// lists and positions hold, which then is on a device.
gyre_status check_linear(const gyre_linear_attention_args &args, bool need_data, LinearCall *call,
                         bool read_lists = true);
gyre_status check_linear_backward(const gyre_linear_attention_backward_args &args, bool need_data,
                                  gyre_linear_attention_args *forward, LinearBackwardCall *call);

} // namespace gyre
