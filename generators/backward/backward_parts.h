/// Parts of schedules that kernels of gradients share, whatever their products are of.
#pragma once
#include "backward_schedules.h"

namespace gyre::backward {

/// `w`: lanes of a vector.
void schedule_guard(Stages &s, int w);

/// What the general family adds.
void schedule_general(Stages &s, int w);

/// The three sums.
void schedule_sums(Stages &s, int w);

} // namespace gyre::backward
