/// Panels: HOW they are formed. One function per machine class.
#pragma once
#include "panels_algorithm.h"

namespace gyre::panels {

void schedule_cpu(Stages &s);

} // namespace gyre::panels
