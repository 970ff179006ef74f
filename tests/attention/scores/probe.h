/// A score function for tests: every kind of input and extent, every field of the point, indices far outside of the
/// tables.
#pragma once
#include <attention/score.h>

inline Halide::Expr score(const gyre::ScorePoint &p, gyre::ScoreInputs &in) {
    using Halide::cast;
    const Halide::Expr factor = in.value("factor"), offset = in.value("offset", Halide::Int(32));
    const auto line = in.table("line", {gyre::any}), pairs = in.table("pairs", {gyre::queries, gyre::keys});
    const auto groups = in.table("groups", {3, gyre::any}, Halide::Int(32));
    const Halide::Expr place = p.batch * 8 + p.head * 4 + (p.q_length - p.k_length) + p.q_index % 3 + line.extent(0);
    return p.score * factor + line(p.k_position - 2 * p.q_position + offset) + pairs(p.q_index + 1, p.k_index + 1) +
           cast<float>(groups(p.q_index % 5 - 1, p.k_index)) / 8 + cast<float>(place) / 16;
}
