/// Row sums for attention's gradients: HOW they are computed. One function per machine class.
#pragma once
#include "delta_algorithm.h"

namespace gyre::delta {

void schedule_cpu(Stages &s, int lanes);

void schedule_cuda(RowStages &s);

} // namespace gyre::delta
