/// Features of linear attention: HOW they are computed. One function per machine class.
#pragma once
#include "features_algorithm.h"

namespace gyre::features {

void schedule_cpu(Stages &s, int lanes);

void schedule_cuda(TensorStages &s);

} // namespace gyre::features
