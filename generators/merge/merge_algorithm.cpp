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

    const auto with_outer = [&](std::vector<Expr> place) {
        place.insert(place.end(), in.outer.begin(), in.outer.end());
        return place;
    };
    const auto of_part = [&](const Func &f, std::vector<Expr> place, const Expr &p) {
        place = with_outer(std::move(place));
        place.push_back(p);
        return f(place);
    };
    const std::vector<Expr> row = with_outer({i, h}), element = with_outer({d, h, i});

    RDom part(0, in.parts, "part");
    s.part = part;
    const Expr stored = of_part(in.part_lse, {i, h}, part);
    const Expr part_lse = select(strict_float(stored < nothing), nothing, stored);
    s.top = Func("top");
    s.top(row) = nothing;
    s.top(row) = max(s.top(row), part_lse);

    const Expr exponent = (part_lse - s.top(row)) * log2_e;
    const Expr weight = select(part_lse > nothing && exponent > -60.0f, exp2_nonpositive(exponent), 0.0f);
    s.total = Func("total");
    s.total(row) += weight;
    s.sum = Func("sum");
    s.sum(element) += select(weight > 0.0f, weight * widen(of_part(in.part_out, {d, h, i}, part)), 0.0f);

    const Expr total = s.total(row), any = total > 0.0f;
    s.out(element) = narrow(select(any, s.sum(element) / total, 0.0f), type);
    const Expr minus_infinity = reinterpret<float>(Expr(0xff800000u)); // which arithmetic may not produce
    s.lse(row) = select(any, s.top(row) + log_positive(max(total, 1.0f)), minus_infinity);
    return s;
}

} // namespace gyre::merge
