/// Running sums: HOW they are computed. One function per machine class.
#pragma once
#include "sums_algorithm.h"

namespace gyre::sums {

void schedule_cpu(Stages &s, int lanes);

} // namespace gyre::sums
