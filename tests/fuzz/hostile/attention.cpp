// Calls of gyre_attention(), of its gradients and of gyre_attention_merge().
#include "call.h"

namespace gyre::fuzz {

gyre_attention_args HostileCall::attention_args() {
    gyre_attention_args a = gyre_attention_defaults();
    layout = a.layout = choice<gyre_layout>(3);
    common(&a);
    a.q = shaped(q_len, heads, dim);
    const bool paged = r.rarely(5);
    const int64_t page_size = INT64_C(1) << r.below(4);
    if (paged) {
        a.k = t.tensor({4, page_size, kv_heads, dim}, dtype);
        a.v = t.tensor({4, page_size, kv_heads, dim}, dtype);
        a.page_table = t.pointer({batch, (int64_t)r.below(5)}, GYRE_I32);
    } else {
        a.k = shaped(k_len, kv_heads, dim);
        a.v = shaped(k_len, kv_heads, dim);
    }
    a.out = shaped(q_len, heads, dim, true);
    if (r.rarely(2))
        a.lse = layout == GYRE_THD ? t.pointer({heads, q_len}, GYRE_F32, true)
                                   : t.pointer({batch, heads, q_len}, GYRE_F32, true);
    if (r.rarely(4)) a.scale = r.number<float>();
    if (r.rarely(4)) a.softcap = r.number<float>();
    a.causal = flag();
    a.alignment = choice<gyre_alignment>(2);
    if (r.rarely(4)) a.window_left = r.edge();
    if (r.rarely(4)) a.window_right = r.edge();
    const gyre_dtype bias_type = (gyre_dtype)r.below(3);
    if (r.rarely(4)) a.bias = r.rarely(2) ? t.pointer({q_len, k_len}, bias_type) : t.pointer({k_len}, bias_type);
    if (r.rarely(4)) a.mask = t.pointer({batch, 1, q_len, k_len}, GYRE_BOOL);
    if (r.rarely(4)) a.sinks = t.pointer({heads}, GYRE_F32);
    if (r.rarely(4)) a.alibi = t.pointer({heads}, GYRE_F32);
    if (r.rarely(3)) a.seqused_k = list(batch);
    if (layout == GYRE_THD ? !r.rarely() : r.rarely()) {
        a.cu_seqlens_q = t.pointer({1 + (int64_t)r.below(4)}, GYRE_I32);
        a.cu_seqlens_k = a.cu_seqlens_q && r.rarely(3) ? t.pointer({2}, GYRE_I32) : a.cu_seqlens_q;
    }
    a.rope = rope(0, q_len);
    a.value_rope = rope(1, q_len);
    a.keys_rotated = a.rope ? flag() : 0;
    a.values_rotated = a.value_rope ? flag() : 0;
    a.q_positions = positions(q_len);
    a.k_positions = positions(k_len);
    if (r.rarely(12)) a.score = r.rarely(2) ? "alibi" : "nobody's";
    if (r.rarely(12)) a.score_input_count = -(int32_t)r.below(3);
    a.value_order = r.rarely(6) ? choice<gyre_value_order>(2) : GYRE_VALUES_IN_ROWS;
    if (r.rarely(4)) a.dropout = r.rarely(4) ? r.number<float>() : 0.25f;
    return a;
}

gyre_status HostileCall::attention(gyre_context *context) {
    const gyre_attention_args a = attention_args();
    return call(context, a, gyre_attention, gyre_attention_workspace_size);
}

gyre_status HostileCall::backward(gyre_context *context) {
    const gyre_attention_args forward = attention_args();
    gyre_attention_backward_args a = gyre_attention_backward_defaults();
    common(&a);
    a.forward = r.rarely(48) ? nullptr : &forward;
    a.out_grad = shaped(q_len, heads, dim);
    a.q_grad = shaped(q_len, heads, dim, true);
    a.k_grad = shaped(k_len, kv_heads, dim, true);
    a.v_grad = shaped(k_len, kv_heads, dim, true);
    if (forward.bias && r.rarely(2)) a.bias_grad = t.pointer({q_len, k_len}, GYRE_F32, true);
    return call(context, a, gyre_attention_backward, gyre_attention_backward_workspace_size);
}

gyre_status HostileCall::merge(gyre_context *context) {
    gyre_attention_merge_args a = gyre_attention_merge_defaults();
    layout = a.layout = choice<gyre_layout>(3);
    common(&a);
    a.parts = r.rarely(4) ? r.number<int32_t>() : (int32_t)r.below(4);
    a.part_out = shaped(q_len, heads, dim);
    a.part_lse = layout == GYRE_THD ? t.tensor({heads, q_len}, GYRE_F32) : t.tensor({batch, heads, q_len}, GYRE_F32);
    a.part_out_stride = r.rarely(3) ? r.edge() : r.below(16);
    a.part_lse_stride = r.rarely(3) ? r.edge() : r.below(16);
    a.out = shaped(q_len, heads, dim, true);
    if (r.rarely(2)) a.lse = t.pointer({batch, heads, q_len}, GYRE_F32, true);
    keep_parts_in_memory(&a.part_out, a.parts, a.part_out_stride, memory);
    keep_parts_in_memory(&a.part_lse, a.parts, a.part_lse_stride, memory);
    return call(context, a, gyre_attention_merge, gyre_attention_merge_workspace_size);
}

} // namespace gyre::fuzz
