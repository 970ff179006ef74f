// Calls of gyre_rotary(), gyre_rotary_qk() and gyre_cache_append().
#include "call.h"

namespace gyre::fuzz {

gyre_status HostileCall::rotary(gyre_context *context) {
    gyre_rotary_args a = gyre_rotary_defaults();
    layout = a.layout = choice<gyre_layout>(3);
    common(&a);
    a.x = shaped(q_len, heads, dim);
    a.out = shaped(q_len, heads, dim, true);
    if (const gyre_rope *given = rope(0, q_len)) a.rope = *given;
    a.reverse = flag();
    a.positions = positions(q_len);
    if (r.rarely(6)) a.position_offset = r.edge();
    return call(context, a, gyre_rotary, gyre_rotary_workspace_size);
}

gyre_status HostileCall::rotary_qk(gyre_context *context) {
    gyre_rotary_qk_args a = gyre_rotary_qk_defaults();
    layout = a.layout = choice<gyre_layout>(3);
    common(&a);
    a.q = shaped(q_len, heads, dim);
    a.k = shaped(q_len, kv_heads, dim);
    a.q_out = shaped(q_len, heads, dim, true);
    a.k_out = shaped(q_len, kv_heads, dim, true);
    if (const gyre_rope *given = rope(0, q_len)) a.rope = *given;
    a.reverse = flag();
    a.positions = positions(q_len);
    return call(context, a, gyre_rotary_qk, gyre_rotary_qk_workspace_size);
}

gyre_status HostileCall::append(gyre_context *context) {
    gyre_cache_append_args a = gyre_cache_append_defaults();
    layout = a.layout = choice<gyre_layout>(3);
    common(&a);
    a.k = shaped(q_len, kv_heads, dim);
    a.v = shaped(q_len, kv_heads, dim);
    if (layout == GYRE_THD) a.cu_seqlens_k = t.pointer({1 + (int64_t)r.below(4)}, GYRE_I32);
    a.cache_seqlens = list(batch);
    if (r.rarely(3)) a.page_table = t.pointer({batch, (int64_t)r.below(6)}, GYRE_I32);
    a.rope = rope(0, q_len);
    a.value_rope = rope(1, q_len);
    a.positions = positions(q_len);
    if (dtype == GYRE_F32 && r.rarely(3)) dtype = GYRE_BF16;
    layout = a.cache_layout = choice<gyre_layout>(2);
    const int64_t capacity = r.rarely(2) ? 32 : k_len;
    a.k_cache = shaped(capacity, kv_heads, dim, true);
    a.v_cache = shaped(capacity, kv_heads, dim, true);
    a.value_order = r.rarely(6) ? choice<gyre_value_order>(2) : GYRE_VALUES_IN_ROWS;
    return call(context, a, gyre_cache_append, gyre_cache_append_workspace_size);
}

} // namespace gyre::fuzz
