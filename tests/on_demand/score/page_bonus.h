/// A score function of this project's own: keys lie in pages, every head likes some pages more than others, and sees
/// nothing beyond its horizon but the first page.
///     S_ij = score + bonus_h[j / page_size]      masked where pos_q - pos_k > horizon_h and j >= page_size
///
///     page_size   [1]              i32
///     horizon     [heads]          i32
///     bonus       [heads, pages]   f32; keys after the last page have its bonus
#pragma once
#include <attention/score.h>

inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {
    using namespace Halide;
    const Expr page_size = in.value("page_size", Int(32)), horizon = in.value("horizon", Int(32));
    const auto bonus = in.table("bonus", {gyre::any});
    const Expr of_page = p.by_key([&](const gyre::ScorePoint &key) { return bonus(key.k_index / page_size); });
    const Expr seen = p.q_position - p.k_position <= horizon || p.k_index < page_size;
    return select(seen, p.score + of_page, gyre::masked);
}
