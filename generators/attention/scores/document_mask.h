/// Several documents in one row of tokens: a query sees the keys of its own document.
///     visible   q_documents[i] = k_documents[j]
/// Source: the document mask of Dong et al., FlexAttention (arXiv:2412.05496). Every score is formed before it is
/// masked: where documents follow each other, packed sequences (layout thd) compute only what is seen.
///
///     q_documents   [batch or 1, heads or 1, seqlen_q]    i32
///     k_documents   [batch or 1, heads or 1, seqlen_kv]   i32: the same tensor, where queries and keys are the same
///     tokens
#pragma once
#include <attention/score.h>

inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {
    const Halide::Type i32 = Halide::Int(32);
    const auto queries = in.table("q_documents", {gyre::queries}, i32),
               keys = in.table("k_documents", {gyre::keys}, i32);
    const Halide::Expr of_query = p.by_query([&](const gyre::ScorePoint &at) { return queries(at.q_index); });
    const Halide::Expr of_key = p.by_key([&](const gyre::ScorePoint &at) { return keys(at.k_index); });
    return Halide::select(of_query == of_key, p.score, gyre::masked);
}
