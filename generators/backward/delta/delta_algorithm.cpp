#include "delta_algorithm.h"

#include "../../math/storage.h"

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

RowStages algorithm_of_rows(const Func &out, const Func &out_grad, const Expr &features, const Func &delta) {
    RowStages s;
    s.delta = delta;
    const Var &i = s.i, &h = s.h, &z = s.z;
    RDom d(0, features, "d");
    const auto number = [&](const Func &of) { return widen(of(d, h, i, z), Bf16::as_casts); };
    s.sum = Func("sum");
    s.sum(i, h, z) += number(out) * number(out_grad);
    s.delta(i, h, z) = s.sum(i, h, z);
    return s;
}

} // namespace gyre::delta
