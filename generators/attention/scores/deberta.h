/// DeBERTa's disentangled attention: content to content, content to position and position to content.
///     S_ij = score + scale <q_i, kr_d(i, j)> + scale <k_j, qr_d(j, i)>      d(a, b) = clip(a - b + R, 0, 2 R - 1)
/// Source: He et al., DeBERTa (arXiv:2006.03654), section 3.1, equations 2 to 4. Distances in logarithmic buckets, as
/// DeBERTa-v2 has them, are not part of this.
///
///     c2p   [batch or 1, heads or 1, seqlen_q, 2 R]    f32: c2p[i, n] = scale <q_i, kr_n>      kr_n = W_{k,r} P_n
///     p2c   [batch or 1, heads or 1, seqlen_kv, 2 R]   f32: p2c[j, n] = scale <k_j, qr_n>      qr_n = W_{q,r} P_n
/// The caller forms them from the model's relative embeddings P [2 R, …], each as one product of matrices, with the
/// scale of the call, which the paper has as 1 / sqrt(3 head_dim). The k of a grouped query head is its key head's.
#pragma once
#include <attention/score.h>
#include <attention/scores/relative.h>

inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {
    const auto c2p = in.table("c2p", {gyre::queries, gyre::any}), p2c = in.table("p2c", {gyre::keys, gyre::any});
    const auto to_position = gyre::scores::relative(p, c2p, gyre::scores::RowOf::query, {c2p.extent(1) / 2, -1});
    const auto to_content = gyre::scores::relative(p, p2c, gyre::scores::RowOf::key, {p2c.extent(1) / 2, +1});
    return p.score + to_position + to_content;
}
