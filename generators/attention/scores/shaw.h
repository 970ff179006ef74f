/// Shaw's relative position representations of keys, clipped at R.
///     S_ij = score + scale <q_i, w_r>      r = clip(pos_k - pos_q, -R, R)
/// Source: Shaw, Uszkoreit and Vaswani, Self-Attention with Relative Position Representations (arXiv:1803.02155),
/// equations 2, 4 and 5. Its representations of values (equation 3) are not part of this.
///
///     products   [batch or 1, heads or 1, seqlen_q, 2 R + 1]   f32: products[i, r + R] = scale <q_i, w_r>
/// The caller forms them from the queries and the embeddings w [2 R + 1, head_dim] as one product of matrices, with the
/// scale of the call. R is told by the extent.
#pragma once
#include <attention/score.h>
#include <attention/scores/relative.h>

inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {
    const auto products = in.table("products", {gyre::queries, gyre::any});
    return p.score + gyre::scores::relative(p, products, gyre::scores::RowOf::query, {products.extent(1) / 2, +1});
}
