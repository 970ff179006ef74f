/// Tables of relative positions, which are clipped at their ends: what the encodings of Shaw, Transformer-XL and DeBERTa read.
#pragma once
#include <attention/score.h>

namespace gyre::scores {

/// The table's column at a distance pos_k - pos_q: centre + direction * distance, moved inside. direction: +1 or -1.
struct Columns {
    Halide::Expr centre;
    int direction;

    Halide::Expr at(const Halide::Expr &distance) const { return direction > 0 ? centre + distance : centre - distance; }
    /// Distances at which no column is moved.
    ScorePoint::Distances inside(const Halide::Expr &count) const {
        if (direction > 0) return {-centre, count - 1 - centre};
        return {centre - (count - 1), centre};
    }
};

/// rows(i, column of the distance) of a table with a row for each query. Beyond the ends one number for each query remains.
inline Halide::Expr of_query(const ScorePoint &p, const ScoreTable &rows, const Columns &columns) {
    const Halide::Expr count = rows.extent(1), distance = p.k_position - p.q_position;
    const ScorePoint::Distances inside = columns.inside(count);
    const auto end = [&](bool near) {
        return p.by_query([&](const ScorePoint &at) {
            return rows(at.q_index, near == (columns.direction > 0) ? Halide::Expr(0) : count - 1);
        });
    };
    const Halide::Expr between = p.along_keys(
        [&](const ScorePoint &at) { return rows(at.q_index, columns.at(at.k_position - at.q_position)); }, inside);
    return select(distance < inside.lowest, end(true), distance > inside.highest, end(false), between);
}

/// rows(j, column of the distance) of a table with a row for each key.
inline Halide::Expr of_key(const ScorePoint &p, const ScoreTable &rows, const Columns &columns) {
    const Halide::Expr count = rows.extent(1), distance = p.k_position - p.q_position;
    const ScorePoint::Distances inside = columns.inside(count);
    const auto end = [&](bool near) {
        return p.by_key([&](const ScorePoint &at) {
            return rows(at.k_index, near == (columns.direction > 0) ? Halide::Expr(0) : count - 1);
        });
    };
    const Halide::Expr between = p.along_queries(
        [&](const ScorePoint &at) { return rows(at.k_index, columns.at(at.k_position - at.q_position)); }, inside);
    return select(distance < inside.lowest, end(true), distance > inside.highest, end(false), between);
}

} // namespace gyre::scores
