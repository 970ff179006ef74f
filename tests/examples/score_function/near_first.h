/// Keys lose by the square root of their distance, by a slope for each head; those beyond a reach are not seen.
///     slopes   [heads]   f32
///     reach    [1]       i32, tokens
#pragma once
#include <attention/score.h>

inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {
    using namespace Halide;
    const Expr distance = p.q_position - p.k_position;
    const Expr lost = in.value("slopes") * sqrt(cast<float>(max(distance, -distance)));
    return select(distance <= in.value("reach", Int(32)), p.score - lost, gyre::masked);
}
