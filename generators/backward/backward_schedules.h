/// Gradients of attention: HOW they are computed. One function per machine class.
#pragma once
#include "backward_algorithm.h"

namespace gyre::backward {

/// Numbers that a tuner may change. Every field is a GeneratorParam of the same name.
struct Knobs {
    int vectors = 2; // vectors of a register tile
    int tile = 6;    // scalars of a register tile, rows or keys
    int blocks = 16; // register tiles of a block, in rows and in keys
    int lanes = 0;   // elements of a vector; 0: the target's natural width
};

/// `in`: what is specialised for.
void schedule_cpu(Stages &s, const Inputs &in, const Knobs &k);

/// Schedules totals_algorithm().
void schedule_totals_cpu(Stages &s, const Knobs &k);

} // namespace gyre::backward
