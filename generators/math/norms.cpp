#include "norms.h"

#include "storage.h"

namespace gyre {
using namespace Halide;

Expr sum_of_squares(const std::function<Expr(const Expr &)> &element, const Expr &lane, int features) {
    Expr sum = 0.0f;
    for (int first = 0; first < features; first += norm_lanes) {
        const Expr x = widen(element(lane + first));
        sum += x * x;
    }
    return sum;
}

} // namespace gyre
