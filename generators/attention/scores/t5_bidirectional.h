/// T5's relative position bias of encoders: 16 buckets of distances on either side, 128 the largest that is told apart.
///     S_ij = score + bias_h[bucket(|pos_k - pos_q|) + (16 if pos_k > pos_q)]
/// Source: as t5_buckets.h. T5 does not scale its scores: gyre_attention_args.scale is 1.
///
///     bias   [batch or 1, heads or 1, 32]   f32
/// The model's relative_attention_bias [32, heads], transposed: as it lies in memory by strides (1, heads).
#pragma once
#include <attention/score.h>
#include <attention/scores/t5_buckets.h>

inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {
    const auto bias = in.table("bias", {32});
    return p.score + p.by_distance([&](const Halide::Expr &distance) {
        const Halide::Expr n = Halide::max(distance, -distance);
        return bias(gyre::scores::t5_bucket(n, 16, 128) + Halide::select(distance > 0, 16, 0));
    });
}
