#include "merge_algorithm.h"

#include "../../math/storage.h"
#include "../../math/transcendental.h"

#include <limits>

namespace gyre::merge {
using namespace Halide;
namespace {

/// True if these are the bits of an f32 NaN.
Expr has_nan_bits(const Expr &bits) { return (bits & Expr(0x7fffffffu)) > Expr(0x7f800000u); }

} // namespace

Stages algorithm(const Inputs &in, const Func &out, const Func &lse, const Type &type) {
    Stages s;
    s.out = out;
    s.lse = lse;
    const Var &d = s.d, &h = s.h, &i = s.i;
    constexpr float log2_e = 1.44269504088896f;
    constexpr float lowest = std::numeric_limits<float>::lowest();

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
    // Bits are compared: Halide compiles f32 arithmetic under the assumption that there are neither infinities nor NaNs.
    const Expr part_lse = of_part(in.part_lse, {i, h}, part), bits = reinterpret<uint32_t>(part_lse);
    const Expr minus_infinity = Expr(0xff800000u), is_empty = bits == minus_infinity;
    s.top = Func("top");
    s.top(row) = lowest;
    s.top(row) = max(s.top(row), select(is_empty || has_nan_bits(bits), lowest, part_lse));

    // strict_float: of large denominators the difference is exact, the difference of their products with log2(e) is not.
    const Expr exponent = strict_float(part_lse - s.top(row)) * log2_e;
    const Expr weight = select(is_empty, 0.0f, exp2_nonpositive(exponent)); // of NaN NaN
    s.total = Func("total");
    s.total(row) += weight;
    s.sum = Func("sum");
    s.sum(element) += select(is_empty, 0.0f, weight * widen(of_part(in.part_out, {d, h, i}, part)));

    const Expr total = s.total(row), total_bits = reinterpret<uint32_t>(total), any = total_bits != Expr(0u);
    Expr sum = s.sum(element), all = total, shift = s.top(row);
    if (in.sinks.defined()) { // NaN in values shows however large the sink, since 0 times NaN is NaN
        const Expr sink = in.sinks(h), greater = max(s.top(row), sink);
        const auto power = [&](const Expr &of) { return exp2_nonpositive(strict_float(of - greater) * log2_e); };
        const Expr share = power(s.top(row));
        s.shared = Func("shared");
        s.shared(row) = Tuple(share, total * share + power(sink), greater);
        sum = sum * s.shared(row)[0];
        all = s.shared(row)[1];
        shift = s.shared(row)[2];
    }
    s.out(element) = narrow(select(any, sum / all, 0.0f), type);
    s.lse(row) = select(has_nan_bits(total_bits), total, any, shift + log_positive(max(all, 1.0f)),
                        reinterpret<float>(minus_infinity));
    return s;
}

} // namespace gyre::merge
