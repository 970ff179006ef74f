#include "delta_schedules.h"

namespace gyre::delta {
using namespace Halide;

// A row is one vector of sums, whose lanes are then added in order.
void schedule_cpu(Stages &s, int lanes) {
    s.delta.compute_root();
    s.delta.update().reorder(s.lane, s.i).unroll(s.lane);
    s.sums.compute_at(s.delta, s.i).vectorize(s.l, lanes);
    s.sums.update().reorder(s.l, s.chunk).vectorize(s.l, lanes);
    s.power.compute_root().vectorize(s.i, lanes, TailStrategy::GuardWithIf);
}

} // namespace gyre::delta
