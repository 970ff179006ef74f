/// Gradients of linear attention's features: HOW they are computed. One function per machine class.
#pragma once
#include "slopes_algorithm.h"

namespace gyre::slopes {

void schedule_cpu(Stages &s, int lanes);

} // namespace gyre::slopes
