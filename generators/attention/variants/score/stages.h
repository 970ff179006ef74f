/// What a score function adds to attention's stages.
#pragma once
#include "math/transpose.h"

#include <vector>

namespace gyre::attention {

/// What ScorePoint's by_…() and along_…() keep, in the order in which they were asked for.
struct ScoreParts {
    struct Along {
        Halide::Func kept; // (r, j, t, b)
        Halide::RVar key;  // of its update
        Halide::Func rows; // (j, r, t, b)  along keys only
        Transpose lanes;   // (r, j, t, b)  likewise: of the rows
    };
    std::vector<Halide::Func> by_query;    // (r, t)
    std::vector<Halide::Func> by_key;      // (j, b)
    std::vector<Halide::Func> by_distance; // (x, b)   x = i - j + key_block - 1
    std::vector<Along> along;
};

struct ScoreStages {
    Halide::Var x{"x"}; // distance
    ScoreParts parts;
    int update = -1; // of `masked`   -1: there is no score function
};

} // namespace gyre::attention
