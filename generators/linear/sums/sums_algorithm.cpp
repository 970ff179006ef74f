#include "sums_algorithm.h"

namespace gyre::sums {
using namespace Halide;

Stages algorithm(const Inputs &in, const Func &out) {
    Stages s;
    s.out = out;
    const Var &d = s.d, &i = s.i;
    s.out(d, i) = in.weight(i) * in.x(d, i);
    RDom later(1, in.rows - 1, "later");
    s.row = later;
    s.out(d, later) += s.out(d, later - 1);
    s.out(d, i) += in.before(d, i);
    return s;
}

} // namespace gyre::sums
