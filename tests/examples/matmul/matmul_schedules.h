/// A linear layer with GELU: HOW it is computed on processors.
#pragma once
#include "matmul_algorithm.h"

namespace matmul {

/// Numbers that a tuner may change, beside Sizes: knobs.json.
struct Knobs {
    int unroll = 1; // steps along k
};

void schedule(Stages &s, const Knobs &k);

} // namespace matmul
