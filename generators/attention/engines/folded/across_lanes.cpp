#include "across_lanes.h"

#include <string>

namespace gyre::attention {
using namespace Halide;

SumsAcrossLanes sum_across_lanes(int lanes, const std::vector<Var> &more, const VectorLane &of) {
    SumsAcrossLanes s;
    s.lanes = lanes;
    const Var bit("bit"), f("sum_f"), v("sum_v");
    const auto with_more = [&](std::vector<Expr> index) {
        index.insert(index.end(), more.begin(), more.end());
        return index;
    };
    const auto vars_with_more = [&](std::vector<Var> vars) {
        vars.insert(vars.end(), more.begin(), more.end());
        return vars;
    };
    for (int vectors = lanes / 2; vectors >= 1; vectors /= 2) {
        const std::string round = std::to_string(s.pairs.size());
        const auto before = [&](const Expr &lane, const Expr &vector) -> Expr {
            return s.sums.empty() ? of(lane, vector) : s.sums.back()(with_more({lane, vector}));
        };
        Func pairs("across_pairs_" + round), sums("across_sums_" + round);
        pairs(vars_with_more({bit, f, v})) = before(f, v + bit * vectors);
        sums(vars_with_more({f, v})) =
            pairs(with_more({f % 2, f / 2, v})) + pairs(with_more({f % 2, f / 2 + lanes / 2, v}));
        s.pairs.push_back(pairs);
        s.sums.push_back(sums);
    }
    return s;
}

void schedule_sums_across_lanes(SumsAcrossLanes &s, const LoopLevel &at) {
    for (size_t round = 0; round < s.sums.size(); round++) {
        s.pairs[round].bound(s.pairs[round].args()[0], 0, 2).unroll(s.pairs[round].args()[0]);
        for (Func *of_round : {&s.pairs[round], &s.sums[round]}) {
            const size_t first = of_round == &s.pairs[round] ? 1 : 0;
            const Var f = of_round->args()[first], v = of_round->args()[first + 1];
            of_round->compute_at(at).bound(f, 0, s.lanes).bound(v, 0, s.lanes >> (round + 1)).vectorize(f).unroll(v);
        }
    }
}

} // namespace gyre::attention
