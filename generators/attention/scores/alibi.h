/// ALiBi: scores fall linearly with the distance, by a slope for each head.
///     S_ij = score - slope_h |pos_q - pos_k|
/// Source: Press, Smith and Lewis, Train Short, Test Long: Attention with Linear Biases (arXiv:2108.12409), section 3,
/// which is causal; on keys after the query the same slope falls the other way, as FlashAttention has it.
///
///     slopes   [batch or 1, heads or 1]   f32, > 0; the paper's are 2^(-8 (h + 1) / heads) for a power of two of heads
#pragma once
#include <attention/score.h>

inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {
    const Halide::Expr distance = p.q_position - p.k_position;
    return p.score - in.value("slopes") * Halide::cast<float>(Halide::max(distance, -distance));
}
