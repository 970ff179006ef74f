"""A score function of one's own: keys lose by the logarithm of their distance, by a slope for each head."""
import gyre
import numpy as np

NEAR_FIRST = """
#pragma once
#include <attention/score.h>

inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {
    using namespace Halide;
    const Expr distance = cast<float>(abs(p.q_position - p.k_position));
    return p.score - in.value("slopes") * log(1.0f + distance);
}
"""

context = gyre.build(head_dims=32, score={"near_first": NEAR_FIRST}, features="causal", name="near_first_kernels")
random = np.random.default_rng(0)
q, k, v = (random.standard_normal((1, 100, 4, 32), dtype=np.float32) for _ in range(3))
slopes = np.array([1.0, 0.5, 0.25, 0.125], np.float32)
out = gyre.attention(q, k, v, causal=True, score="near_first", score_inputs={"slopes": slopes}, context=context)
print("computed by", context.selected_kernel)

# NumPy computes the scores again.
place = np.arange(100)
scores = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(32) - slopes[:, None, None] * np.log1p(abs(place[:, None] - place))
scores = np.where(place <= place[:, None], scores, -np.inf)
weights = np.exp(scores - scores.max(-1, keepdims=True))
right = np.einsum("bhij,bjhd->bihd", weights / weights.sum(-1, keepdims=True), v)
print("largest difference", abs(out - right).max())
assert abs(out - right).max() < 1e-5
