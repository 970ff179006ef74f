#include "delta_algorithm.h"

namespace gyre::delta {
using namespace Halide;

Stages algorithm(const Inputs &in, int lanes, const Func &delta, const Func &power) {
    constexpr float log2_e = 1.44269504088896f;
    Stages s;
    s.delta = delta;
    s.power = power;
    const Var &l = s.l, &i = s.i;
    RDom chunks(0, in.features / lanes, "chunks"), all(0, lanes, "all");
    s.chunk = chunks;
    s.lane = all;
    s.sums = Func("sums");
    s.sums(l, i) += in.out(chunks * lanes + l, i) * in.out_grad(chunks * lanes + l, i);
    s.delta(i) = 0.0f;
    s.delta(i) += s.sums(all, i);
    // Bits are compared: f32 arithmetic is compiled as if there were no infinities.
    const Expr nothing = reinterpret<uint32_t>(in.lse(i)) == Expr(0xff800000u);
    s.power(i) = select(nothing, 1e30f, in.lse(i) * log2_e);
    return s;
}

} // namespace gyre::delta
