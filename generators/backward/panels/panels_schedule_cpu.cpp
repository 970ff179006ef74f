#include "panels_schedules.h"

namespace gyre::panels {
using namespace Halide;

// A block at a time, in registers.
void schedule_cpu(Stages &s) {
    const int n = s.transposed.n;
    Var lo("lo"), li("li"), d_o("do"), di("di");
    s.out.compute_root().tile(s.l, s.d, lo, d_o, li, di, n, n).reorder(li, di, lo, d_o, s.p).vectorize(li).unroll(di);
    schedule_transpose(s.transposed, {s.out, lo});
}

} // namespace gyre::panels
