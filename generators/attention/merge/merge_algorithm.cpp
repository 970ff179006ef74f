#include "merge_algorithm.h"

#include "../../math/storage.h"
#include "../../math/transcendental.h"

#include <limits>

namespace gyre::merge {
using namespace Halide;
namespace {

/// True if these are the bits of an f32 NaN.
Expr has_nan_bits(const Expr &bits) { return (bits & Expr(0x7fffffffu)) > Expr(0x7f800000u); }

constexpr float log2_e = 1.44269504088896f;
constexpr float lowest = std::numeric_limits<float>::lowest();

// Bits are compared: Halide compiles f32 arithmetic under the assumption that there are neither infinities nor NaNs.
Expr is_empty(const Expr &part_lse) { return reinterpret<uint32_t>(part_lse) == Expr(0xff800000u); }

/// What a part adds to the greatest lse.
Expr for_top(const Expr &part_lse) {
    return select(is_empty(part_lse) || has_nan_bits(reinterpret<uint32_t>(part_lse)), lowest, part_lse);
}

/// exp(lse_p - top) of a part that sees keys; of NaN NaN.
Expr weight_of(const Expr &part_lse, const Expr &top) {
    // strict_float: of large denominators the difference is exact, the difference of their products with log2(e) is not.
    return exp2_nonpositive(strict_float(part_lse - top) * log2_e);
}

/// Defines top, total and sum as sums of what each lane or share of threads adds up. A share's parts are loaded together, so that a thread waits once for
/// several; those that are not there have no weight.
void share_parts(Stages &s, const Inputs &in) {
    const Var &d = s.d, &h = s.h, &i = s.i, &p = s.p;
    const auto of = [&](std::vector<Expr> place, const std::vector<Expr> &more) {
        place.insert(place.end(), in.outer.begin(), in.outer.end());
        place.insert(place.end(), more.begin(), more.end());
        return place;
    };
    const auto row_of = [&](const std::vector<Expr> &more) { return of({i, h}, more); };
    const Expr last = in.parts - 1;
    const auto existing = [&](const Expr &part) { return clamp(part, 0, last); };
    s.part_lses = Func("part_lses");
    s.part_lses(row_of({p})) =
        select(p < in.parts, in.part_lse(row_of({existing(p)})), reinterpret<float>(Expr(0xff800000u)));
    const RDom of_lane(0, (in.parts + lanes_of_parts - 1) / lanes_of_parts, "of_lane"),
        lanes(0, lanes_of_parts, "lanes");
    s.part_of_lane = of_lane;
    s.of_lanes = lanes;
    const Expr part = of_lane * lanes_of_parts + s.lane;
    s.lane_tops = Func("lane_tops");
    s.lane_tops(row_of({s.lane})) = lowest;
    s.lane_tops(row_of({s.lane})) = max(s.lane_tops(row_of({s.lane})), for_top(s.part_lses(row_of({part}))));
    s.top(row_of({})) = lowest;
    s.top(row_of({})) = max(s.top(row_of({})), s.lane_tops(row_of({lanes})));

    const Expr none = -1.0f; // the weight of no part
    const auto is_none = [](const Expr &weight) { return reinterpret<uint32_t>(weight) == Expr(0xbf800000u); };
    s.part_weights = Func("part_weights");
    const Expr lse = s.part_lses(row_of({p}));
    s.part_weights(row_of({p})) = select(is_empty(lse), none, weight_of(lse, s.top(row_of({}))));
    s.lane_totals = Func("lane_totals");
    const Expr of_part = s.part_weights(row_of({part}));
    s.lane_totals(row_of({s.lane})) = 0.0f;
    s.lane_totals(row_of({s.lane})) += select(is_none(of_part), 0.0f, of_part);
    s.total(row_of({})) = 0.0f;
    s.total(row_of({})) += s.lane_totals(row_of({lanes}));

    const RDom turns(0, parts_at_once, 0, (in.parts + shares * parts_at_once - 1) / (shares * parts_at_once), "turns");
    const RDom all_shares(0, shares, "all_shares");
    s.part_of_turn = turns.x;
    s.turn = turns.y;
    s.all_shares = all_shares;
    const Expr shared_part = (turns.y * parts_at_once + turns.x) * shares + s.share;
    const Expr weight = s.part_weights(row_of({shared_part}));
    s.share_sums = Func("share_sums");
    s.share_sums(of({d, h, i}, {s.share})) = 0.0f;
    s.share_sums(of({d, h, i}, {s.share})) +=
        select(is_none(weight), 0.0f, weight * widen(in.part_out(of({d, h, i}, {existing(shared_part)}))));
    s.shared_sums = Func("shared_sums");
    s.shared_sums(of({d, h, i}, {s.share})) = s.share_sums(of({d, h, i}, {s.share}));
    s.sum(of({d, h, i}, {})) = 0.0f;
    s.sum(of({d, h, i}, {})) += s.shared_sums(of({d, h, i}, {all_shares}));
}

} // namespace

Stages algorithm(const Inputs &in, const Func &out, const Func &lse, const Type &type) {
    Stages s;
    s.out = out;
    s.lse = lse;
    const Var &d = s.d, &h = s.h, &i = s.i;
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

    const auto existing = [&](const Expr &head) { return in.heads.defined() ? min(head, in.heads - 1) : head; };
    const Expr minus_infinity = Expr(0xff800000u);
    s.top = Func("top");
    s.total = Func("total");
    s.sum = Func("sum");
    if (in.shared) {
        share_parts(s, in);
    } else {
        RDom part(0, in.parts, "part");
        s.part = part;
        const Expr part_lse = of_part(in.part_lse, {i, existing(h)}, part);
        s.top(row) = lowest;
        s.top(row) = max(s.top(row), for_top(part_lse));
        const Expr weight = select(is_empty(part_lse), 0.0f, weight_of(part_lse, s.top(row)));
        s.total(row) += weight;
        s.sum(element) += select(is_empty(part_lse), 0.0f, weight * widen(of_part(in.part_out, {d, h, i}, part)));
    }

    const Expr total = s.total(row), total_bits = reinterpret<uint32_t>(total), any = total_bits != Expr(0u);
    Expr sum = s.sum(element), all = total, shift = s.top(row);
    if (in.sinks.defined()) { // NaN in values shows however large the sink, since 0 times NaN is NaN
        const Expr sink = in.sinks(existing(h)), greater = max(s.top(row), sink);
        const auto power = [&](const Expr &of) { return exp2_nonpositive(strict_float(of - greater) * log2_e); };
        const Expr share = power(s.top(row)), of_all = total * share + power(sink);
        s.shared = Func("shared");
        s.shared(row) = Tuple(in.heads.defined() ? select(any, share / of_all, 0.0f) : share, of_all, greater);
        sum = sum * s.shared(row)[0];
        all = s.shared(row)[1];
        shift = s.shared(row)[2];
    }
    if (in.heads.defined()) { // a row's division is one for all features, and a part alone needs no sum
        const Expr part_lse = of_part(in.part_lse, {i, existing(h)}, 0);
        const Expr alone = select(is_empty(part_lse), 0.0f, widen(of_part(in.part_out, {d, h, i}, 0)));
        s.out(element) = narrow(select(in.parts == 1, alone, s.sum(element)) * s.shared(row)[0], type);
    } else {
        s.out(element) = narrow(select(any, sum / all, 0.0f), type);
    }
    const Expr row_lse = select(has_nan_bits(total_bits), total, any, shift + log_positive(max(all, 1.0f)),
                                reinterpret<float>(minus_infinity));
    if (in.heads.defined()) {
        s.row_lse = Func("row_lse");
        s.row_lse(row) = row_lse;
    }
    s.lse(row) = s.row_lse.defined() ? Expr(s.row_lse(row)) : row_lse;
    return s;
}

} // namespace gyre::merge
