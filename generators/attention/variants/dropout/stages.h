/// What dropout adds to attention's stages.
#pragma once
#include <Halide.h>

namespace gyre::attention {

struct DropoutStages {
    Halide::Func draws; // (r, j / 4, t, b)  random words of four keys
    Halide::Func words; // (j, r, t, b)      the same, of each key; undefined: rows are along the lanes
    Halide::Func kept;  // (r, j, t, b)      weights, 0 where they are dropped; undefined: nothing is dropped
    Halide::RVar kept_j, kept_group; // of its update; only with words
};

} // namespace gyre::attention
