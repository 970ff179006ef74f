// What arguments usually are: loops of their own for it, how far a bias is read, and estimates for autoschedulers.
#include "attention_generator.h"

#include "attention/variants/columns.h"
#include "common/estimates.h"
#include "passes/loop_name.h"
#include "passes/memory/masked_tails.h"
#include "passes/order/loop_limits.h"

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
    if (stages.mask_least.defined()) stages.mask_least.update().specialize(mask.dim(0).stride() == 1);
    if (stages.pair_rows.defined()) stages.pair_rows.specialize(bias_16.dim(0).stride() == 1);
}

/// Within a block, `loop` of `of` takes so many keys a turn, and ends with the last key.
void AttentionGenerator::end_with_keys(const Stages &stages, const Halide::Func &of, const std::string &loop,
                                       int keys_a_turn) {
    end_loop_early(*this, of, loop, loop_of(stages.block),
                   [key_count = Halide::Expr(keys), keys_a_turn, block = stages.sizes.key_block](
                       const Halide::Expr &b) { return (key_count - b * block + keys_a_turn - 1) / keys_a_turn; });
}

/// Rows of a bias or mask are formed for a whole block, but of a call's last one only as far as there are keys.
void AttentionGenerator::end_bias_early(const Stages &stages, int keys_in_vector) {
    const GeneralStages &g = stages.general;
    const bool along_keys = keys_in_vector > 1;
    if (!g.bias_rows.defined() || (!along_keys && !g.bias_lanes.out.defined())) return;
    // Without AVX2 it was not measured. 16 bits of any head size have no register left for it on AVX-512, and calls without a bias would take 2 to 3 % longer.
    const bool has_registers =
        !(padded && wanted().dtype.bits() == 16 && get_target().has_feature(Halide::Target::AVX512));
    if (along_keys && !(has_registers && get_target().has_feature(Halide::Target::AVX2))) return;
    const int lanes = along_keys ? keys_in_vector : stages.sizes.lanes;
    end_with_keys(stages, g.bias_rows, g.bias_rows.args()[0].name(), lanes);
    end_with_keys(stages, g.bias_rows, loop_of(g.attend_j), lanes);
    const int masked_bits = least_masked_bits(get_target());
    if (masked_bits > 0) mask_bounded(*this, g.bias_rows, masked_bits);
}

/// Nor are more transposed, and nothing of a block in which a mask hides none.
void AttentionGenerator::end_transposed_bias_early(const Stages &stages) {
    const GeneralStages &g = stages.general;
    const int lanes = stages.sizes.lanes;
    end_with_keys(stages, stages.masked, column_block_loop, lanes);
    if (g.hides.defined()) {
        guard_loop(*this, g.bias_rows, stages.r.name(), g.hides);
        guard_loop(*this, stages.masked, column_block_loop, g.hides);
    }
    if (g.unchanged.defined()) guard_loop(*this, stages.masked, loop_of(g.other_j), g.unchanged);
    if (!g.pair_rows.defined()) return;
    if (least_masked_bits(get_target()) == 8) mask_bounded(*this, g.pair_rows, 8);
    end_with_keys(stages, g.pair_rows, g.pair_rows.args()[0].name(), 2 * lanes);
    end_with_keys(stages, stages.masked, pair_block_loop, 2 * lanes);
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
