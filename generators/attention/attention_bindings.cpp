// The arguments of a kernel, as the algorithm takes them.
#include "attention_generator.h"

#include "math/storage.h"

namespace gyre::attention {

Inputs AttentionGenerator::bind(const Sizes &sizes) {
    Inputs in;
    in.q = q;
    in.tokens = q.dim(2).extent();
    in.heads = has_one_head() ? Halide::Expr(1) : q.dim(1).extent();
    in.rows = Halide::unsafe_promise_clamped(in.tokens * in.heads, 1, sizes.row_tile * sizes.task_tiles);
    if (dense) in.row_step = row_step;
    if (tile_rows) in.tile_rows = tile_rows;
    in.head_dim = q.dim(0).extent();
    in.v_head_dim = v.dim(0).extent();
    in.scale = scale;
    in.first_visible = first_visible;
    in.last_visible = last_visible;
    if (key_gain) in.key_gain = key_gain;
    if (sinks) {
        sinks.dim(0).set_min(0).set_stride(Halide::Expr()); // 0 where there are none
        in.sinks = sinks;
    }
    bind_keys(in);
    bind_rotations(in);
    if (capped) in.softcap = score_cap;
    if (sloped) bind_slope(in);
    if (general) bind_general(in);
    bind_shapes();
    return in;
}

void AttentionGenerator::bind_keys(Inputs &in) {
    in.keys = keys;
    in.k = {k, k.dim(1).extent(), k_slot_stride, k_page_stride};
    in.v = {v, v.dim(1).extent(), v_slot_stride, v_page_stride};
    if (key_heads) {
        in.key_heads = key_heads;
        in.k.head_stride = k_head_stride;
        in.v.head_stride = v_head_stride;
    }
    if (!dense && !key_squares) in.pages = {pages, pages.dim(0).extent(), page_bits, first_slot};
    if (key_squares) {
        for (int d : {0, 1}) key_squares.dim(d).set_min(0);
        in.key_squares = key_squares;
    }
    if (k_scales) {
        for (auto *scales : {&k_scales, &v_scales}) scales->dim(0).set_min(0).set_stride(Halide::Expr());
        in.k_scale = k_scales;
        in.v_scale = v_scales;
    }
}

void AttentionGenerator::bind_rotations(Inputs &in) {
    for (auto *table : {&q_cos, &q_sin, &k_cos, &k_sin, &v_cos, &v_sin, &o_cos, &o_sin}) {
        table->dim(0).set_min(0);
        table->dim(1).set_min(0);
    }
    in.q_rotation = {q_cos, q_sin, q_half, q_interleaved, +1};
    in.k_rotation = {k_cos, k_sin, k_half, k_interleaved, +1};
    in.v_rotation = {v_cos, v_sin, v_half, v_interleaved, +1};
    in.out_rotation = {o_cos, o_sin, o_half, o_interleaved, -1};
}

void AttentionGenerator::bind_slope(Inputs &in) {
    Halide::Var h("h");
    in.alibi = Halide::Func("slope_of_head");
    in.alibi(h) = Halide::Expr(slope);
    in.alibi_origin = slope_origin;
    in.slope_reach = slope_reach;
}

void AttentionGenerator::bind_shapes() {
    for (auto *tensor : {&q, &k, &v})
        for (int d = 0; d < (*tensor)->dimensions(); d++) tensor->dim(d).set_min(0);
    for (auto *tensor : {&k, &v}) tensor->dim(1).set_stride(1);
    pages.dim(0).set_min(0);
    for (int d : {0, 1, 2}) out.dim(d).set_min(0);
    for (int d : {0, 1}) lse.dim(d).set_min(0);
    if (dense) lse.dim(0).set_stride(Halide::Expr()); // rows may be heads
    const Halide::Expr heads = has_one_head() ? Halide::Expr(1) : q.dim(1).extent();
    if (has_one_head()) q.dim(1).set_extent(1);
    out.dim(1).set_extent(heads);
    lse.dim(1).set_extent(heads);
}

void AttentionGenerator::bind_general(Inputs &in) {
    for (auto *tensor : {&bias_f32, &bias_16, &mask}) {
        tensor->dim(0).set_min(0).set_stride(Halide::Expr());
        for (int d : {1, 2}) tensor->dim(d).set_min(0);
    }
    Halide::Var j("j"), i("i"), h("h");
    in.bias = Halide::Func("bias");
    in.bias(j, i, h) = element_of_kind(bias_kind, bias_f32(j, i, h), bias_16(j, i, h));
    in.bias_masks = Halide::Func("bias_masks");
    in.bias_masks(j, i, h) = is_minus_infinity_of_kind(bias_kind, bias_f32(j, i, h), bias_16(j, i, h));
    in.bias_bits = bias_16;
    in.has_bias = bias_kind != 0;
    in.has_bf16_bias = bias_kind == 3;
    in.mask = mask;
    in.has_mask = has_mask;
    in.mask_is_dense = mask.dim(0).stride() == 1;
    in.softcap = softcap;
    alibi.dim(0).set_min(0).set_stride(Halide::Expr());
    in.has_alibi = has_alibi;
    in.alibi = alibi;
    in.alibi_origin = alibi_origin;
    if (dropout)
        in.dropout = {dropout_threshold, dropout_keep_scale, dropout_seed_low,  dropout_seed_high,
                      dropout_offset,    dropout_head,       dropout_first_row, dropout_first_key};
    if (score_inputs) bind_score(in, *score_inputs);
}

void AttentionGenerator::bind_score(Inputs &in, ScoreInputs &inputs) const {
    inputs.bind();
    ScorePoint &p = in.score_origin;
    p.batch = score_batch;
    p.head = score_head;
    p.q_index = score_first_row;
    p.k_index = p.k_position = score_first_key;
    p.q_position = score_first_position;
    p.q_length = score_queries;
    p.k_length = score_keys;
    in.score = [&inputs](const ScorePoint &point) { return compiled_score(point, inputs); };
}

} // namespace gyre::attention
