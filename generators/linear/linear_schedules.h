/// Linear attention of a chunk: HOW it is computed. One function per machine class.
#pragma once
#include "linear_algorithm.h"

namespace gyre::linear {

/// Numbers that a tuner may change. Every field is a GeneratorParam of the same name.
struct Knobs {
    int vectors = 2; // vectors of a register tile
    int tile = 6;    // rows of a register tile
    int blocks = 16; // register tiles of a chunk
    int lanes = 0;   // elements of a vector; 0: the target's natural width
};

void schedule_cpu(Stages &s, const Knobs &k);

} // namespace gyre::linear
