/// Dropout of weights that have keys along the lanes: a row's words are drawn for as many neighbouring draws as a vector has lanes.
#pragma once
#include "attention/recurrence/visible.h"

namespace gyre::attention {

/// Defines s.dropout from the weights of values: of the groups of `group` keys in which some row sees a key.
void define_kept_along_keys(Stages &s, const Inputs &in, const Visible &visible, int group,
                            const Halide::Func &weights);

/// Schedules it in the loop `block`.
void schedule_kept_along_keys(Stages &s, const Halide::LoopLevel &block, int lanes);

} // namespace gyre::attention
