/// The rotation of rows of features, in place of a copy: what packing K and V, loading Q and storing O have in common.
#pragma once
#include <Halide.h>
#include <functional>
#include <vector>

namespace gyre {

/// Angles of the rows and how features pair up. The two extents are run-time values, one of them 0; both 0: no
/// rotation.
struct Rotation {
    Halide::Func cos, sin;          // (pair, row)
    Halide::Expr half_pairs;        // pairs (i, i + half_pairs)      ccccssss
    Halide::Expr interleaved_pairs; // pairs (2i, 2i + 1)             cscscscs
    int direction = +1;             // +1 rotate, -1 rotate back
    int lanes = 0;                  // 0: see rotate(); else whole vectors of so many pairs, then the rest one by one
};

/// Appends to `rows`, whose pure definition is a plain copy of `source`, the updates that overwrite its rotated
/// features:
///     rows(p) = source(p) cos - direction source(q) sin        rows(q) = source(q) cos + direction source(p) sin
/// `source(feature)` gives the unrotated value at the other dimensions `at`; `row` is the angles' row.
/// The updates read only `source`; `stored` converts a result to the type of `rows`. With Rotation::lanes the pure
/// definition may be undefined: the first update copies the features that are not rotated.
struct RotatedRows {
    Halide::RVar half, interleaved, parity;

    // With Rotation::lanes: of the first update, and of those after it, each of which stores both features of its pairs.
    Halide::RVar rest;
    struct Update {
        Halide::RVar parity, pair;
    };
    std::vector<Update>
        updates; // whole vectors, half and interleaved, unless a vector is one pair; then the rest of either
};
RotatedRows rotate(Halide::Func rows, const std::vector<Halide::Expr> &at, const Halide::Expr &row, int features,
                   const Rotation &rotation, const std::function<Halide::Expr(Halide::Expr)> &source,
                   const std::function<Halide::Expr(Halide::Expr)> &stored);

/// Vectorises the copy and the updates of whole vectors of a rotation in `lanes`, and no others: little code.
void schedule_whole_vectors(Halide::Func rows, const RotatedRows &vars, int lanes);

/// Vectorises the copy and the updates that rotate() appended.
void schedule_rotated_rows(Halide::Func rows, const RotatedRows &vars, const Halide::Var &feature, int lanes);

/// The same for rows of a known number of features, a multiple of copy_lanes: the copy is unrolled.
void schedule_rotated_rows(Halide::Func rows, const RotatedRows &vars, const Halide::Var &feature, int lanes,
                           int copy_lanes);

} // namespace gyre
