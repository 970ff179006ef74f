#include "angles_algorithm.h"

#include "../../math/transcendental.h"

namespace gyre::angles {
using namespace Halide;

Stages algorithm(const Inputs &in, const Func &table) {
    Stages s;
    s.table = table;
    const Var &i = s.i, &t = s.t;
    const Expr axis = clamp(in.axis_of_pair(i), 0, in.axes - 1);
    const SinCos angle = sincos_of_double(cast<double>(in.positions(t, axis)) * in.frequencies(i));
    s.both = Func("both");
    s.both(i, t) = Tuple(angle.cos * in.scale, angle.sin * in.scale);
    s.table(i, s.c, t) = mux(s.c, {s.both(i, t)[0], s.both(i, t)[1]});
    return s;
}

} // namespace gyre::angles
