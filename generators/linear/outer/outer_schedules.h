/// Linear attention's state: HOW it is computed. One function per machine class.
#pragma once
#include "outer_algorithm.h"

namespace gyre::outer {

/// Numbers that a tuner may change. Every field is a GeneratorParam of the same name.
struct Knobs {
    int vectors = 2; // vectors of a register tile
    int tile = 4;    // scalars of a register tile
    int lanes = 0;   // elements of a vector; 0: the target's natural width
};

void schedule_cpu(Stages &s, const Knobs &k);

} // namespace gyre::outer
