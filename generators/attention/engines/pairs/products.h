/// What the engines of bf16 pairs have alike, whatever lies along their lanes.
#pragma once
#include "attention/engines/vectors/vectors.h"

#include <functional>
#include <vector>

namespace gyre::attention {

/// Stages of products of pairs: c: pairs along the dimension that is summed over.
struct PairProducts {
    Halide::Var c{"c"};
    Halide::Func k_pairs; // (c, j, b)
    // (r, group, t, b)   {pairs of weights of neighbouring keys, some of them; the sum of all their weights}
    Halide::Func weight_pairs;
};

/// Keys whose weights are formed and summed together.
struct WeighedGroups {
    int count, pairs; // groups of a block, pairs of a group
    std::function<Halide::Expr(const Halide::Expr &group)> in_sight;
};

/// Defines s.q_scaled (r, c, t): pairs of neighbouring features, which are not scaled.
void define_query_pairs(LaneStages &s, const Halide::Var &c);

/// Defines `sums` at `place`: weight_pairs times value_pairs (d, c, b), and once more for guarded blocks (recurrence/guard.h).
void sum_value_pairs(LaneStages &s, Halide::Func &sums, const std::vector<Halide::Var> &place,
                     const Halide::Func &weight_pairs, const Halide::Func &value_pairs, const WeighedGroups &groups);

} // namespace gyre::attention
