/// Gradients of attention by pairs of bf16 numbers: HOW they are computed.
#pragma once
#include "backward/backward_schedules.h"
#include "backward/pairs/pairs.h"

namespace gyre::backward {

/// `in`: what is specialised for.
void schedule_of_pairs(PairStages &s, const Inputs &in, const Knobs &k);

} // namespace gyre::backward
