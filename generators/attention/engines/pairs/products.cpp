#include "products.h"

#include "attention/recurrence/scores.h"
#include "math/bf16_pairs.h"
#include "passes/instructions/bf16_dot.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// All bits of a pair, or none of those of its numbers whose key is masked.
Expr seen_bits(const LaneStages &s, const Expr &pair) {
    const auto bits_unless_masked = [&](const Expr &key, uint32_t bits) {
        return select(is_masked(s.masked(s.r, key, s.t, s.b)), Expr(0u), Expr(bits));
    };
    return bits_unless_masked(pair * 2, 0xffffu) | bits_unless_masked(pair * 2 + 1, 0xffff0000u);
}

} // namespace

void define_query_pairs(LaneStages &s, const Var &c) {
    const Var &r = s.r, &t = s.t;
    s.q_lanes = transpose(s.q_rows, s.sizes.lanes, "q_lanes", true);
    s.q_scaled = Func("q_scaled");
    s.q_scaled(r, c, t) = bf16_pair(s.q_lanes.out(r, c * 2, t), s.q_lanes.out(r, c * 2 + 1, t));
}

void sum_value_pairs(LaneStages &s, Func &sums, const std::vector<Var> &place, const Func &weight_pairs,
                     const Func &value_pairs, const WeighedGroups &groups) {
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d;
    const auto add = [&](const Expr &group, bool seen_alone) {
        Expr total = sums(place);
        for (int n = 0; n < groups.pairs; n++) {
            const Expr pair = group * groups.pairs + n, values = value_pairs(d, pair, b);
            total = bf16_dot(total, weight_pairs(r, group, t, b)[n], seen_alone ? values & seen_bits(s, pair) : values);
        }
        sums(place) = total;
    };
    RDom all(0, groups.count, "groups"), again(0, 1, "again"), guarded(0, groups.count, 0, 1, "guarded_groups");
    all.where(groups.in_sight(all));
    s.value_j = all;
    sums(place) = 0.0f;
    add(all, false);
    again.where(again < s.guarded(b));
    guarded.where(groups.in_sight(guarded.x));
    guarded.where(guarded.y < s.guarded(b));
    s.guarded_j = guarded.x;
    s.guarded_turn = guarded.y;
    sums(place) = cast<float>(again);
    add(guarded.x, true);
}

} // namespace gyre::attention
