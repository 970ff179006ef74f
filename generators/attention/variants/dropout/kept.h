/// Dropout of weights, after they were summed.
#pragma once
#include "attention/recurrence/inputs.h"
#include "attention/recurrence/stages.h"

namespace gyre::attention {

/// Defines s.dropout from the weights of values. The words are those of the key's and the row's places among all, so blocks and tasks
/// do not matter.
void define_kept(Stages &s, const Inputs &in, const Halide::Func &weights);

/// Schedules it in the loop `tile`. Random words are drawn for four keys and a vector of rows at a time, in registers.
void schedule_kept(Stages &s, const Halide::LoopLevel &tile);

} // namespace gyre::attention
