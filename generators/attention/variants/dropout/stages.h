/// What dropout adds to attention's stages.
#pragma once
#include <Halide.h>

namespace gyre::attention {

struct DropoutStages {
    Halide::Func draws; // (r, j / 4, t, b)  random words of four keys
    Halide::Func kept;  // (r, j, t, b)      weights, 0 where they are dropped; undefined: nothing is dropped
};

} // namespace gyre::attention
