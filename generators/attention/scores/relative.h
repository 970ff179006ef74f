/// Tables of relative positions, which are clipped at their ends: what the encodings of Shaw, Transformer-XL and
/// DeBERTa read.
#pragma once
#include <attention/score.h>

namespace gyre::scores {

/// The table's column at a distance pos_k - pos_q: centre + direction * distance, moved inside. direction: +1 or -1.
struct Columns {
    Halide::Expr centre;
    int direction;

    Halide::Expr at(const Halide::Expr &distance) const {
        return direction > 0 ? centre + distance : centre - distance;
    }
    /// Distances at which no column is moved.
    ScorePoint::Distances inside(const Halide::Expr &count) const {
        if (direction > 0) return {-centre, count - 1 - centre};
        return {centre - (count - 1), centre};
    }
};

enum class RowOf { query, key };

/// rows(i or j, column of the distance). Where columns are moved inside, one number for each query or key remains, so
/// that blocks of scores far from the diagonal read no row at all.
inline Halide::Expr relative(const ScorePoint &p, const ScoreTable &rows, RowOf row, const Columns &columns) {
    const bool of_query = row == RowOf::query;
    const Halide::Expr count = rows.extent(1), distance = p.k_position - p.q_position;
    const auto part = [&](const std::function<Halide::Expr(const ScorePoint &)> &column) -> ScorePoint::Part {
        return [=](const ScorePoint &at) { return rows(of_query ? at.q_index : at.k_index, column(at)); };
    };
    const auto end = [&](bool lowest) {
        const Halide::Expr column = lowest == (columns.direction > 0) ? Halide::Expr(0) : count - 1;
        const auto moved = part([=](const ScorePoint &) { return column; });
        return of_query ? p.by_query(moved) : p.by_key(moved);
    };
    const auto between = part([=](const ScorePoint &at) { return columns.at(at.k_position - at.q_position); });
    const ScorePoint::Distances inside = columns.inside(count);
    const Halide::Expr before = distance<inside.lowest, after = distance> inside.highest;
    return select(before, end(true), after, end(false),
                  of_query ? p.along_keys(between, inside) : p.along_queries(between, inside));
}

} // namespace gyre::scores
