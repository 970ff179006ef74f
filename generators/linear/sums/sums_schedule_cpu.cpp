#include "sums_schedules.h"

namespace gyre::sums {
using namespace Halide;

// Row after row: the vectors of a row do not wait for each other.
void schedule_cpu(Stages &s, int lanes) {
    s.out.vectorize(s.d, lanes, TailStrategy::GuardWithIf);
    s.out.update(0).reorder(s.d, s.row).vectorize(s.d, lanes, TailStrategy::GuardWithIf);
    s.out.update(1).vectorize(s.d, lanes, TailStrategy::GuardWithIf);
}

} // namespace gyre::sums
