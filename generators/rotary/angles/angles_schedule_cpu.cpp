#include "angles_schedules.h"

namespace gyre::angles {
using namespace Halide;

// A row of pairs is one vector loop: the position is a scalar, frequencies are read densely, and cosine and sine leave
// together, since most of their work is shared. With one axis no gather remains, where usual_axes gives it a loop of its own.
void schedule_cpu(Stages &s, const Expr &axes, const Knobs &k) {
    Var io("io"), ii("ii");
    s.table.compute_root()
        .bound(s.c, 0, 2)
        .split(s.i, io, ii, k.lanes, TailStrategy::GuardWithIf)
        .reorder(ii, s.c, io, s.t)
        .vectorize(ii)
        .unroll(s.c);
    s.both.compute_at(s.table, io).bound_storage(s.i, k.lanes).vectorize(s.i, k.lanes, TailStrategy::GuardWithIf);
    if (k.usual_axes) s.table.specialize(axes == 1);
}

} // namespace gyre::angles
