#include "norms_schedules.h"

namespace gyre::norms {
using namespace Halide;

// A row's product is one vector of sums, whose lanes are then added pair by pair; its division one vector loop.
void schedule_cpu(Stages &s, int lanes) {
    s.product.compute_root();
    s.product.update().reorder(s.lane, s.i).atomic().vectorize(s.lane);
    s.sums.compute_at(s.product, s.i).vectorize(s.l, lanes);
    s.sums.update().reorder(s.l, s.chunk).vectorize(s.l, lanes);
    s.out.compute_root().vectorize(s.e, lanes, TailStrategy::GuardWithIf);
    s.inverse.compute_at(s.out, s.i);
}

} // namespace gyre::norms
