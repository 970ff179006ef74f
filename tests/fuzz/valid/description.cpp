#include "description.h"

#include <algorithm>
#include <cstdio>

namespace gyre::fuzz {
namespace {

const char *const dtypes[] = {"GYRE_F32", "GYRE_F16", "GYRE_BF16", "GYRE_F64", "GYRE_I32", "GYRE_I64", "GYRE_BOOL"};

std::string list(const int64_t *numbers, int32_t count) {
    std::string text = "{";
    for (int32_t i = 0; i < count; i++) text += (i ? ", " : "") + std::to_string(numbers[i]);
    return text + "}";
}

std::string as_text(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

} // namespace

Description &Description::tensor(const char *field, const gyre_tensor &t) {
    text_ += std::string("a.") + field + " = tensor(" + dtypes[std::clamp((int)t.dtype, 0, 6)] + ", shape " +
             list(t.shape, t.rank) + ", strides " + list(t.strides, t.rank) + ");\n";
    return *this;
}

Description &Description::tensor(const char *field, const gyre_tensor *t) { return t ? tensor(field, *t) : *this; }

Description &Description::number(const char *field, double value) {
    if (value != 0) text_ += std::string("a.") + field + " = " + as_text(value) + ";\n";
    return *this;
}

Description &Description::rope(const char *field, const gyre_rope *r) {
    if (!r) return *this;
    const std::string name = field;
    number((name + ".pairing").c_str(), r->pairing).number((name + ".rotary_dim").c_str(), r->rotary_dim);
    number((name + ".rotary_offset").c_str(), r->rotary_offset).number((name + ".theta").c_str(), r->theta);
    number((name + ".frequency_base").c_str(), r->frequency_base);
    number((name + ".attention_factor").c_str(), r->attention_factor);
    number((name + ".inv_freq[0]").c_str(), r->inv_freq ? r->inv_freq[0] : 0);
    tensor((name + ".cos").c_str(), r->cos).tensor((name + ".sin").c_str(), r->sin);
    number((name + ".axes").c_str(), r->axes).number((name + ".section_order").c_str(), r->section_order);
    for (int i = 0; i < GYRE_MAX_AXES; i++)
        number((name + ".sections[" + std::to_string(i) + "]").c_str(), r->sections[i]);
    return *this;
}

Description describe(const gyre_rotary_args &a) {
    Description d("gyre_rotary");
    d.number("layout", a.layout).tensor("x", a.x).tensor("out", a.out).number("in_place", a.x.data == a.out.data);
    d.rope("rope", &a.rope).number("reverse", a.reverse).tensor("positions", a.positions);
    return d.number("position_offset", (double)a.position_offset);
}

Description describe(const gyre_rotary_qk_args &a) {
    Description d("gyre_rotary_qk");
    d.number("layout", a.layout).tensor("q", a.q).tensor("k", a.k).tensor("q_out", a.q_out).tensor("k_out", a.k_out);
    d.rope("rope", &a.rope).number("reverse", a.reverse).tensor("positions", a.positions);
    return d.number("position_offset", (double)a.position_offset);
}

Description describe(const gyre_attention_args &a) {
    Description d("gyre_attention");
    d.number("layout", a.layout).tensor("q", a.q).tensor("k", a.k).tensor("v", a.v).tensor("out", a.out);
    d.number("in_place", a.q.data == a.out.data).tensor("lse", a.lse).number("scale", a.scale);
    d.number("softcap", a.softcap).number("causal", a.causal).number("alignment", a.alignment);
    d.number("window_left", (double)a.window_left).number("window_right", (double)a.window_right);
    d.tensor("bias", a.bias).tensor("mask", a.mask).tensor("sinks", a.sinks).tensor("alibi", a.alibi);
    d.tensor("seqused_k", a.seqused_k).tensor("cu_seqlens_q", a.cu_seqlens_q).tensor("cu_seqlens_k", a.cu_seqlens_k);
    d.rope("rope", a.rope).rope("value_rope", a.value_rope);
    d.number("keys_rotated", a.keys_rotated).number("values_rotated", a.values_rotated);
    d.tensor("q_positions", a.q_positions).tensor("k_positions", a.k_positions).tensor("page_table", a.page_table);
    d.number("value_order", a.value_order).number("dropout", a.dropout);
    return d.number("dropout_offset", a.dropout_offset).number("dropout_seed", (double)a.dropout_seed);
}

Description describe(const gyre_attention_backward_args &a) {
    Description d("gyre_attention_backward");
    d.tensor("out_grad", a.out_grad).tensor("q_grad", a.q_grad).tensor("k_grad", a.k_grad).tensor("v_grad", a.v_grad);
    return d.tensor("bias_grad", a.bias_grad);
}

Description describe(const gyre_attention_merge_args &a) {
    Description d("gyre_attention_merge");
    d.number("layout", a.layout).number("parts", a.parts).tensor("part_out", a.part_out).tensor("part_lse", a.part_lse);
    d.number("part_out_stride", (double)a.part_out_stride).number("part_lse_stride", (double)a.part_lse_stride);
    return d.tensor("out", a.out).tensor("lse", a.lse);
}

Description describe(const gyre_cache_append_args &a) {
    Description d("gyre_cache_append");
    d.number("layout", a.layout).number("cache_layout", a.cache_layout).tensor("k", a.k).tensor("v", a.v);
    d.tensor("k_cache", a.k_cache).tensor("v_cache", a.v_cache).tensor("cu_seqlens_k", a.cu_seqlens_k);
    d.tensor("cache_seqlens", a.cache_seqlens).tensor("page_table", a.page_table).rope("rope", a.rope);
    d.rope("value_rope", a.value_rope).tensor("positions", a.positions);
    return d.number("value_order", a.value_order);
}

Description describe(const gyre_linear_attention_args &a) {
    Description d("gyre_linear_attention");
    d.number("layout", a.layout).tensor("q", a.q).tensor("k", a.k).tensor("v", a.v).tensor("out", a.out);
    d.number("causal", a.causal).tensor("seqused_k", a.seqused_k).tensor("cu_seqlens_q", a.cu_seqlens_q);
    d.tensor("cu_seqlens_k", a.cu_seqlens_k).rope("rope", a.rope).tensor("q_positions", a.q_positions);
    d.tensor("k_positions", a.k_positions).tensor("kv_state", a.kv_state).tensor("k_state", a.k_state);
    return d.tensor("kv_state_out", a.kv_state_out).tensor("k_state_out", a.k_state_out);
}

Description describe(const gyre_linear_attention_backward_args &a) {
    Description d("gyre_linear_attention_backward");
    d.tensor("out_grad", a.out_grad).tensor("q_grad", a.q_grad).tensor("k_grad", a.k_grad).tensor("v_grad", a.v_grad);
    d.tensor("kv_state_out_grad", a.kv_state_out_grad).tensor("k_state_out_grad", a.k_state_out_grad);
    return d.tensor("kv_state_grad", a.kv_state_grad).tensor("k_state_grad", a.k_state_grad);
}

} // namespace gyre::fuzz
