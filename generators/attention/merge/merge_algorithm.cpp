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
    const Expr minus_infinity = Expr(0xff800000u);
    const Expr part_lse = of_part(in.part_lse, {i, h}, part), bits = reinterpret<uint32_t>(part_lse);
    const Expr is_empty = bits == minus_infinity;
    s.top = Func("top");
    s.top(row) = lowest;
    s.top(row) = max(s.top(row), select(is_empty || has_nan_bits(bits), lowest, part_lse));

    // strict_float: of large denominators the difference is exact, the difference of their products with log2(e) is not.
    const auto power = [&](const Expr &of_lse) { // of NaN NaN
        return exp2_nonpositive(strict_float(of_lse - s.top(row)) * log2_e);
    };
    s.total = Func("total");
    s.total(row) += select(is_empty, 0.0f, power(part_lse));
    // The last turn asks for the last part again where there is none.
    RDom summed(0, in.at_once, 0, (in.parts + in.at_once - 1) / in.at_once, "summed");
    s.at_once = summed.x;
    s.turns = summed.y;
    const Expr place = summed.y * in.at_once + summed.x;
    const Expr there = in.at_once == 1 ? place : min(place, in.parts - 1);
    const Expr of_there = of_part(in.part_lse, {i, h}, there);
    Expr adds = reinterpret<uint32_t>(of_there) != minus_infinity;
    if (in.at_once > 1) adds = adds && place < in.parts;
    s.sum = Func("sum");
    s.read = Func("read");
    std::vector<Expr> of_place = element;
    of_place.emplace_back(s.p);
    const Expr existing = in.at_once == 1 ? Expr(s.p) : min(s.p, in.parts - 1);
    s.read(of_place) = widen(of_part(in.part_out, {d, h, i}, existing));
    of_place.back() = place;
    s.sum(element) += select(adds, power(of_there) * s.read(of_place), 0.0f);

    const Expr total = s.total(row), total_bits = reinterpret<uint32_t>(total), any = total_bits != Expr(0u);
    Expr sum = s.sum(element), all = total, shift = s.top(row);
    if (in.sinks.defined()) { // NaN in values shows however large the sink, since 0 times NaN is NaN
        const Expr sink = in.sinks(h), greater = max(s.top(row), sink);
        const auto share_of = [&](const Expr &of) { return exp2_nonpositive(strict_float(of - greater) * log2_e); };
        const Expr share = share_of(s.top(row));
        s.shared = Func("shared");
        s.shared(row) = Tuple(share, total * share + share_of(sink), greater);
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
