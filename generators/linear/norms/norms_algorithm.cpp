#include "norms_algorithm.h"

#include "../../math/storage.h"

namespace gyre::norms {
using namespace Halide;

Stages algorithm(const Inputs &in, int lanes, const Func &product, const Func &out, const Type &type) {
    Stages s;
    s.product = product;
    s.out = out;
    const Var &l = s.l, &e = s.e, &i = s.i;
    RDom chunks(0, in.features / lanes, "chunks"), all(0, lanes, "all");
    s.chunk = chunks;
    s.lane = all;
    s.sums = Func("sums");
    s.sums(l, i) += in.a(chunks * lanes + l, i) * in.b(chunks * lanes + l, i);
    s.product(i) = 0.0f;
    s.product(i) += s.sums(all, i);
    // Bits are compared: a comparison of numbers with 0 may be compiled so that a NaN counts as equal.
    s.inverse = Func("inverse");
    const Expr nothing = (reinterpret<uint32_t>(s.product(i)) & Expr(0x7fffffffu)) == Expr(0u);
    s.inverse(i) = select(nothing, 0.0f, 1.0f / s.product(i));
    s.out(e, i) = narrow(in.x(e, i) * s.inverse(i), type);
    return s;
}

} // namespace gyre::norms
