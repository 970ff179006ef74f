/// Rounds that bring one lane of many vectors into one vector, in shuffles that x86 has.
#pragma once
#include <Halide.h>

#include <functional>

namespace gyre {

/// What is in a lane of a vector.
using LaneOfVector = std::function<Halide::Expr(const Halide::Expr &lane, const Halide::Expr &vector)>;

/// Lane `lane` of what a round makes of pair `pair` of `2 * pairs` vectors of `before`, which have `lanes` lanes, 4 or more. The rounds have lanes / 2, lanes / 4,
/// ..., 1 pairs. A round takes two vectors to two others: of each lane and the one `pairs` further, the `upper` vector has the latter. After the last
/// round lane l is of vector l.
///
/// All but the last two rounds put the first vector's runs of lanes before the second's. These two stay within 4 lanes, as most shuffles of x86 do: the first
/// takes single lanes of both in turn, the last joins pairs of them.
///
/// A pipeline that does so needs map_lane_rounds() (passes/instructions/lane_shuffles.h).
Halide::Expr lane_of_round(const LaneOfVector &before, int lanes, int pairs, const Halide::Expr &lane,
                           const Halide::Expr &pair, const Halide::Expr &upper);

/// A round of other transpositions: of each run of `run` lanes of two vectors it takes the lower or the upper half, and of both halves `unit` lanes in turn.
struct Interleaving {
    int run, unit;
};
/// Lane `lane` of what it makes of the vectors `first` and `first + apart`.
Halide::Expr lane_of_interleaved(const LaneOfVector &before, const Halide::Expr &first, int apart,
                                 const Interleaving &of, const Halide::Expr &lane, const Halide::Expr &upper);

/// The name of the call that either is, and its arguments: both vectors' elements in lane at_lane, constants, and what it is, whatever the loop.
extern const char *const call_of_round;
enum ArgumentOfRound { of_first, of_second, at_lane, pairs_of_round, is_upper, as_it_is, unit_of_round };

/// Where a lane of a round comes from: vector `second`, 0 or 1, of its pair.
struct LaneSource {
    Halide::Expr second, lane;
};
LaneSource source_in_round(int pairs, const Halide::Expr &lane, const Halide::Expr &upper);
LaneSource source_in_round(const Interleaving &of, const Halide::Expr &lane, const Halide::Expr &upper);

} // namespace gyre
