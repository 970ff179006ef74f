// Calls of gyre_linear_attention() and of its gradients.
#include "call.h"

#include <tuple>

namespace gyre::fuzz {

gyre_linear_attention_args HostileCall::linear_args() {
    gyre_linear_attention_args a = gyre_linear_attention_defaults();
    layout = a.layout = choice<gyre_layout>(3);
    common(&a);
    a.causal = flag();
    if (a.causal == 1) k_len = q_len;
    a.q = shaped(q_len, heads, dim);
    a.k = shaped(k_len, kv_heads, dim);
    a.v = shaped(k_len, kv_heads, dim);
    a.out = shaped(q_len, heads, dim, true);
    a.seqused_k = list(batch);
    if (layout == GYRE_THD) a.cu_seqlens_q = a.cu_seqlens_k = t.pointer({1 + (int64_t)r.below(4)}, GYRE_I32);
    a.rope = rope(0, q_len);
    a.q_positions = positions(q_len);
    a.k_positions = r.rarely(2) ? a.q_positions : positions(k_len);
    for (const auto &[kv, k, output] :
         {std::tuple(&a.kv_state, &a.k_state, false), std::tuple(&a.kv_state_out, &a.k_state_out, true)})
        if (r.rarely(3)) {
            *kv = t.pointer({batch, kv_heads, dim, dim}, GYRE_F32, output);
            *k = t.pointer({batch, kv_heads, dim}, GYRE_F32, output);
        }
    return a;
}

gyre_status HostileCall::linear(gyre_context *context) {
    const gyre_linear_attention_args forward = linear_args();
    if (!r.rarely(2)) return call(context, forward, gyre_linear_attention, gyre_linear_attention_workspace_size);
    gyre_linear_attention_backward_args a = gyre_linear_attention_backward_defaults();
    common(&a);
    a.forward = r.rarely(48) ? nullptr : &forward;
    a.out_grad = shaped(q_len, heads, dim);
    a.q_grad = shaped(q_len, heads, dim, true);
    a.k_grad = shaped(k_len, kv_heads, dim, true);
    a.v_grad = shaped(k_len, kv_heads, dim, true);
    return call(context, a, gyre_linear_attention_backward, gyre_linear_attention_backward_workspace_size);
}

} // namespace gyre::fuzz
