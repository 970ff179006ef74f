/// Keys and values in the form of tiles: HOW they are formed. One function per machine class.
#pragma once
#include "operands_algorithm.h"

namespace gyre::operands {

void schedule_cpu(Stages &s, int head_dim, int lanes);

} // namespace gyre::operands
