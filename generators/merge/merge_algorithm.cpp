#include "merge_algorithm.h"

#include "../common/storage.h"
#include "../common/transcendental.h"

namespace gyre::merge {
using namespace Halide;

Stages algorithm(const Inputs &in, const Func &out, const Func &lse, const Type &type) {
    Stages s;
    s.out = out;
    s.lse = lse;
    const Var &d = s.d, &h = s.h, &i = s.i;
    constexpr float log2_e = 1.44269504088896f;
    constexpr float nothing =
        -1e38f; // Halide compiles f32 arithmetic under the assumption that there are no infinities

    RDom part(0, in.parts, "part");
    s.part = part;
    const Expr stored = in.part_lse(i, h, part);
    const Expr part_lse = select(strict_float(stored < nothing), nothing, stored);
    s.top = Func("top");
    s.top(i, h) = nothing;
    s.top(i, h) = max(s.top(i, h), part_lse);

    const Expr exponent = (part_lse - s.top(i, h)) * log2_e;
    const Expr weight = select(part_lse > nothing && exponent > -60.0f, exp2_nonpositive(exponent), 0.0f);
    s.total = Func("total");
    s.total(i, h) += weight;
    s.sum = Func("sum");
    s.sum(d, h, i) += select(weight > 0.0f, weight * widen(in.part_out(d, h, i, part)), 0.0f);

    const Expr total = s.total(i, h), any = total > 0.0f;
    s.out(d, h, i) = narrow(select(any, s.sum(d, h, i) / total, 0.0f), type);
    const Expr minus_infinity = reinterpret<float>(Expr(0xff800000u)); // which arithmetic may not produce
    s.lse(i, h) = select(any, s.top(i, h) + log_positive(max(total, 1.0f)), minus_infinity);
    return s;
}

} // namespace gyre::merge
