#include "outer_schedules.h"

namespace gyre::outer {
using namespace Halide;

// A register tile of the state at a time is summed over the tokens, which stay in L1 or L2, and then added to what is there.
void schedule_cpu(Stages &s, const Knobs &k) {
    const Sizes &z = s.sizes;
    Var column("column"), row("row"), within("within"), scalar("scalar");
    s.state.update()
        .split(s.e, column, within, z.features, TailStrategy::RoundUp)
        .split(s.d, row, scalar, z.tile, TailStrategy::RoundUp)
        .reorder(within, scalar, column, row)
        .vectorize(within, k.lanes)
        .unroll(within)
        .unroll(scalar);
    s.sum.compute_at(s.state, column).vectorize(s.e, k.lanes).unroll(s.e).unroll(s.d);
    s.sum.update().reorder(s.e, s.d, s.token).vectorize(s.e, k.lanes).unroll(s.e).unroll(s.d);
}

} // namespace gyre::outer
