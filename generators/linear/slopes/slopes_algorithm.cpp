#include "slopes_algorithm.h"

#include "../../math/feature.h"
#include "../../math/storage.h"

namespace gyre::slopes {

Stages algorithm(const Inputs &in, const Halide::Target &target, const Halide::Func &out, const Halide::Type &type) {
    Stages s;
    s.out = out;
    const Halide::Var &d = s.d, &i = s.i;
    const Halide::Expr slope = feature_slope(widen(in.x(d, i)), target);
    s.out(d, i) = narrow(slope * (in.product(d, i) - in.weight(i) * in.sums(d, i)), type);
    return s;
}

} // namespace gyre::slopes
