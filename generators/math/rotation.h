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
    int turns = 1;                  // with lanes: vectors of pairs (i, i + half_pairs) that a turn of their loop takes
};

/// What rows are made of, and as what they are stored; each but `copied` in f32.
struct RowElements {
    std::function<Halide::Expr(Halide::Expr)> copied; // (feature)  an element as it is stored if it is not rotated
    std::function<Halide::Expr(Halide::Expr)> source; // (feature)  the same in f32
    std::function<Halide::Expr(Halide::Expr)> stored; // (value)    a rotated one as it is stored
};

/// The vars of the updates that rotate() defines.
struct RotatedRows {
    struct Pairs {
        Halide::RVar parity, pair, any; // any: runs once, or not at all
    };
    Halide::RVar copied, any_copied;
    Pairs half, interleaved;

    // With Rotation::lanes: of the first update, which copies, and of those after it, each of which stores both features of
    // its pairs.
    Halide::RVar rest;
    struct Update {
        Halide::RVar parity, pair;
        /// True if `pair` is one of a turn: neighbouring vectors are stored one after the other, and a compiler may store two at once.
        bool is_turn;
    };
    std::vector<Update> updates; // whole turns of half and whole vectors of interleaved pairs; then the rest of either
};

/// Defines `rows` (feature, …) for `features`, of which there are `most` at most: copies, unless all are rotated, and
///     rows(p) = source(p) cos - direction source(q) sin        rows(q) = source(q) cos + direction source(p) sin
/// with the angles of `row`.
RotatedRows rotate(Halide::Func rows, const std::vector<Halide::Var> &args, const Halide::Expr &row,
                   const Halide::Expr &features, int most, const Rotation &rotation, const RowElements &elements);

/// Vectorises the copy and the updates of whole vectors of a rotation in `lanes`, and no others: little code.
void schedule_whole_vectors(Halide::Func rows, const RotatedRows &vars, int lanes);

/// Vectorises the copy and the updates that rotate() appended. `tail`: of the copy, GuardWithIf, or Predicate where the machine masks vectors.
void schedule_rotated_rows(Halide::Func rows, const RotatedRows &vars, int lanes,
                           Halide::TailStrategy tail = Halide::TailStrategy::GuardWithIf);

/// Unrolls the copy as well: rows have a known number of features, a multiple of copy_lanes.
void schedule_rotated_rows(Halide::Func rows, const RotatedRows &vars, int lanes, int copy_lanes);

} // namespace gyre
