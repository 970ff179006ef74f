#include "lane_shuffles.h"

#include "../../math/lane_rounds.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

int constant(const Expr &e) {
    const auto *same = e.as<Broadcast>();
    const auto value = as_const_int(simplify(same ? same->value : e));
    _halide_user_assert(value) << "a vector of " << call_of_round << " needs constants, not " << e << "\n";
    return static_cast<int>(*value);
}

class MapRounds : public IRMutator {
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->name != call_of_round) return IRMutator::visit(op);
        const auto *places = op->args[at_lane].as<Ramp>();
        if (!places || !is_const_zero(places->base) || !is_const_one(places->stride)) return mutate(op->args[as_it_is]);
        const int lanes = op->type.lanes(), pairs = constant(op->args[pairs_of_round]);
        const int upper = constant(op->args[is_upper]);
        const int unit = op->args.size() > unit_of_round ? constant(op->args[unit_of_round]) : 0;
        std::vector<int> taken;
        for (int lane = 0; lane < lanes; lane++) {
            const LaneSource source = unit > 0 ? source_in_round(Interleaving{pairs, unit}, lane, upper)
                                               : source_in_round(pairs, lane, upper);
            taken.push_back(constant(source.second) * lanes + constant(source.lane));
        }
        return Shuffle::make({mutate(op->args[of_first]), mutate(op->args[of_second])}, taken);
    }
};

} // namespace

void map_lane_rounds(GeneratorBase &generator) { generator.get_pipeline().add_custom_lowering_pass(new MapRounds); }

} // namespace gyre
