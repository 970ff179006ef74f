/// Products of rows: HOW they are computed. One function per machine class.
#pragma once
#include "norms_algorithm.h"

namespace gyre::norms {

void schedule_cpu(Stages &s, int lanes);

} // namespace gyre::norms
