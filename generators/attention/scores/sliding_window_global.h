/// A sliding window, and tokens that see and are seen by everyone.
///     visible   |pos_q - pos_k| <= window_h, or query i is global, or key j is
/// Source: Beltagy, Peters and Cohan, Longformer (arXiv:2004.05150), section 3.1; Zaheer et al., Big Bird
/// (arXiv:2007.14062), section 2. Every score is formed before it is masked: for a window alone, window_left and
/// window_right of the call are cheaper.
///
///     window     [batch or 1, heads or 1]              i32: tokens on either side; Longformer's w is 2 window
///     q_global   [batch or 1, heads or 1, seqlen_q]    i32: not 0 for a global query
///     k_global   [batch or 1, heads or 1, seqlen_kv]   i32: not 0 for a global key
#pragma once
#include <attention/score.h>

inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {
    const Halide::Type i32 = Halide::Int(32);
    const Halide::Expr window = in.value("window", i32);
    const auto q_global = in.table("q_global", {gyre::queries}, i32),
               k_global = in.table("k_global", {gyre::keys}, i32);
    const Halide::Expr distance = p.q_position - p.k_position;
    const Halide::Expr of_query = p.by_query([&](const gyre::ScorePoint &at) { return q_global(at.q_index); });
    const Halide::Expr of_key = p.by_key([&](const gyre::ScorePoint &at) { return k_global(at.k_index); });
    const Halide::Expr visible = Halide::max(distance, -distance) <= window || of_query != 0 || of_key != 0;
    return Halide::select(visible, p.score, gyre::masked);
}
