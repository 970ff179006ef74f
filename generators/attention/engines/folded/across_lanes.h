/// Vectors of products that are summed across their lanes, as many at once as a vector has lanes.
#pragma once
#include <Halide.h>

#include <functional>
#include <vector>

namespace gyre::attention {

/// A round takes two vectors, half of their number apart, interleaves them and adds one half of what results to the other. It halves the
/// vectors, and at last lane l of the one that is left has the sum of vector l.
struct SumsAcrossLanes {
    int lanes = 0;
    std::vector<Halide::Func> pairs; // (bit, f, v, …)
    std::vector<Halide::Func> sums;  // (f, v, …)
};

/// Lane f of vector v.
using VectorLane = std::function<Halide::Expr(const Halide::Expr &f, const Halide::Expr &v)>;

/// Sums the vectors of `of`, which have further dimensions `more`.
SumsAcrossLanes sum_across_lanes(int lanes, const std::vector<Halide::Var> &more, const VectorLane &of);

/// Schedules all rounds in registers at `at`.
void schedule_sums_across_lanes(SumsAcrossLanes &s, const Halide::LoopLevel &at);

} // namespace gyre::attention
