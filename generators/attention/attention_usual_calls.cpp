// What arguments usually are: loops of their own for it, and estimates for autoschedulers.
#include "attention_generator.h"

#include "common/estimates.h"

namespace gyre::attention {

void AttentionGenerator::specialize(Stages &stages) {
    if (general) specialize_bias(stages.general);
    if (score_inputs) specialize_score(stages, score_inputs->dense());
}

/// Tables are usually dense.
void AttentionGenerator::specialize_score(Stages &stages, const Halide::Expr &dense) {
    stages.masked.update(stages.score.update).specialize(dense);
    for (ScoreParts::Along &part : stages.score.parts.along)
        (part.rows.defined() ? Halide::Stage(part.rows) : part.kept.update()).specialize(dense);
}

/// One loop for each way in which a bias or a mask usually comes: dense rows of one type.
void AttentionGenerator::specialize_bias(GeneralStages &stages) {
    stages.bias_rows.specialize(bias_kind == 0);
    stages.bias_rows.specialize(bias_kind == 1 && bias_f32.dim(0).stride() == 1);
    stages.bias_rows.specialize(bias_kind == 2 && bias_16.dim(0).stride() == 1);
    stages.bias_rows.specialize(bias_kind == 3 && bias_16.dim(0).stride() == 1);
    stages.bias_rows.update().specialize(mask.dim(0).stride() == 1);
}

/// A task of plain attention on a thousand keys, for autoschedulers. They fail at loops of no iteration (Adams2019)
/// or of one (Mullapudi2016), hence a few rotated pairs.
void AttentionGenerator::estimate(const Sizes &sizes) {
    const int rows = sizes.row_tile * sizes.task_tiles, keys = 1024, pairs = sizes.head_dim / 2;
    estimate_extents({sizes.head_dim, 1, rows}, q, out);
    estimate_extents({sizes.head_dim, keys * sizes.head_dim}, k, v);
    estimate_value(sizes.head_dim, k_slot_stride, v_slot_stride);
    estimate_value(0, k_page_stride, v_page_stride);
    estimate_extents({1}, pages);
    estimate_value(keys, this->keys);
    estimate_value(30, page_bits);
    estimate_value(0, first_slot);
    estimate_extents({pairs, rows}, q_cos, q_sin, o_cos, o_sin);
    estimate_extents({pairs, keys}, k_cos, k_sin, v_cos, v_sin);
    estimate_extents({rows, 1}, lse);
    estimate_value(8, q_half, q_interleaved, k_half, k_interleaved, v_half, v_interleaved, o_half, o_interleaved);
    estimate_value(1.0f, scale);
    estimate_value(-keys, first_visible);
    estimate_value(keys, last_visible);
    if (sinks) estimate_extents({1}, sinks);
    if (!general) return;
    estimate_extents({keys, rows, 1}, bias_f32, bias_16, mask);
    estimate_extents({1}, alibi);
    estimate_value(0, bias_kind, alibi_origin);
    estimate_value(0.0f, softcap);
    has_mask.set_estimate(false);
    has_alibi.set_estimate(false);
}

} // namespace gyre::attention
