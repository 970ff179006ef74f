/// Merging: HOW it is computed. One function per machine class.
#pragma once
#include "merge_algorithm.h"

namespace gyre::merge {

void schedule_cpu(Stages &s, int lanes);

} // namespace gyre::merge
