/// Transformer-XL's relative positions: content and position biases u and v, and an embedding r_n of each distance n.
///     S_ij = score + scale <u, k_j> + scale <q_i + v, r_n>      n = pos_q - pos_k >= 0
/// Keys after the query are to be masked: the call is causal.
/// Source: Dai et al., Transformer-XL (arXiv:1901.02860), section 3.3: terms (a), the score itself, to (d) of A^rel.
///
///     content    [batch or 1, heads or 1, seqlen_kv]      f32: content[j] = scale <u_h, k_j>, term (c)
///     position   [batch or 1, heads or 1, seqlen_q, N]    f32: position[i, n] = scale <q_i + v_h, r_n>, terms (b), (d)
/// The caller forms them with the scale of the call and r_n = W_{k,R} R_n, each as one product of matrices. N
/// distances, the last of which serves all that are farther (the authors' clamp_len); as many as keys for exact ones.
/// The k of a grouped query head is its key head's.
#pragma once
#include <attention/score.h>
#include <attention/scores/relative.h>

inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {
    const auto content = in.table("content", {gyre::keys});
    const auto position = in.table("position", {gyre::queries, gyre::any});
    const Halide::Expr of_key = p.by_key([&](const gyre::ScorePoint &at) { return content(at.k_index); });
    return p.score + of_key + gyre::scores::relative(p, position, gyre::scores::RowOf::query, {0, -1});
}
