#include "slopes_schedules.h"

namespace gyre::slopes {

// A row is one vector loop.
void schedule_cpu(Stages &s, int lanes) { s.out.vectorize(s.d, lanes, Halide::TailStrategy::GuardWithIf); }

} // namespace gyre::slopes
