/// Cosine and sine of rotation angles: HOW they are computed. One function per machine class.
#pragma once
#include "angles_algorithm.h"

namespace gyre::angles {

/// Numbers that a tuner may change. Every field is a GeneratorParam of the same name.
struct Knobs {
    int lanes = 0;      // pairs at once; 0: the target's natural width for f32
    int usual_axes = 1; // 1: a loop of its own for positions of one axis, without gathers; 0: little code
};

/// `axes`: as in Inputs.
void schedule_cpu(Stages &s, const Halide::Expr &axes, const Knobs &k);

} // namespace gyre::angles
