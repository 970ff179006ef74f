#include "lane_rounds.h"

#include <algorithm>

namespace gyre {
using namespace Halide;
namespace {

constexpr int within = 4; // lanes that shuffles stay in

} // namespace

const char *const call_of_round = "lane_of_round";

LaneSource source_in_round(int pairs, const Expr &lane, const Expr &upper) {
    const int apart = std::max(pairs, 2), run = std::max(2 * pairs, within);
    const Expr begin = lane / run * run + upper * apart, place = lane % run;
    if (pairs == 2) return {place % 2, begin + place / 2};
    return {place / apart, begin + place % apart};
}

LaneSource source_in_round(const Interleaving &of, const Expr &lane, const Expr &upper) {
    const Expr begin = lane / of.run * of.run + upper * (of.run / 2), place = lane % of.run, unit = place / of.unit;
    return {unit % 2, begin + unit / 2 * of.unit + place % of.unit};
}

Expr lane_of_interleaved(const LaneOfVector &before, const Expr &first, int apart, const Interleaving &of,
                         const Expr &lane, const Expr &upper) {
    const LaneSource source = source_in_round(of, lane, upper);
    const Expr value = before(source.lane, first + source.second * apart);
    return Internal::Call::make(value.type(), call_of_round,
                                {before(lane, first), before(lane, first + apart), lane, of.run, upper, value, of.unit},
                                Internal::Call::PureExtern);
}

Expr lane_of_round(const LaneOfVector &before, int lanes, int pairs, const Expr &lane, const Expr &pair,
                   const Expr &upper) {
    _halide_user_assert(lanes >= within && 2 * pairs <= lanes) << call_of_round << " of " << lanes << " lanes\n";
    const auto vector = [&](const Expr &second) -> Expr {
        return pairs <= within / 2 ? pair * 2 + second : pair + second * pairs;
    };
    const LaneSource source = source_in_round(pairs, lane, upper);
    const Expr value = before(source.lane, vector(source.second));
    return Internal::Call::make(value.type(), call_of_round,
                                {before(lane, vector(0)), before(lane, vector(1)), lane, pairs, upper, value},
                                Internal::Call::PureExtern);
}

} // namespace gyre
