#include "panels_algorithm.h"

namespace gyre::panels {

Stages algorithm(const Halide::Func &x, int block, const Halide::Func &out) {
    Stages s;
    s.out = out;
    s.x = Halide::Func("x_rows");
    s.x(s.d, s.l, s.p) = x(s.d, s.l, s.p);
    s.transposed = transpose(s.x, block, "transposed", true);
    s.out(s.l, s.d, s.p) = s.transposed.out(s.l, s.d, s.p);
    return s;
}

} // namespace gyre::panels
