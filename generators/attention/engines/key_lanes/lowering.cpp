#include "key_lanes.h"
#include "passes/instructions/neighbour_pairs.h"
#include "passes/loop_name.h"
#include "passes/order/loop_branches.h"
#include "passes/order/loop_limits.h"

namespace gyre::attention {
using namespace Halide;

/// Tables of offsets end with the last key, or with what is asked for.
void KeyLanes::end_tables_early(const Lowering &lowering) const {
    const int more = k.lanes - 1 + (facts.in_columns ? k.lanes : facts.transposes_keys ? keys_asked_ahead() : 0);
    const auto vectors = [keys = lowering.key_count, lanes = k.lanes, more, block = s.sizes.key_block](const Expr &b) {
        return (keys - b * block + more) / lanes;
    };
    for (const Func &offsets : {s.operands.k_offsets, s.operands.v_offsets})
        end_loop_early(lowering.generator, offsets, s.j.name(), loop_of(s.block), vectors);
}

void KeyLanes::lower(const Lowering &lowering) const {
    FeatureVectors::lower(lowering);
    if (facts.in_pairs) map_neighbour_pairs(lowering.generator);
    if (spreads()) branch_before_loops(lowering.generator);                 // of keys_spread
    const bool has_turns = s.sizes.head_dim > k.lanes * vectors_together(); // of the loop over features, which ask
    // Kernels of own keys have the loops of others, and so their bits.
    if (facts.in_columns)
        end_last_tile(lowering);
    else if (facts.transposes_keys)
        ask_for_next_steps(lowering);
    else if (facts.asks_ahead && has_turns && !facts.own_keys)
        ask_for_keys_and_values(lowering);
    if (facts.rows_ask) share_requests(lowering);
    if (facts.own_keys || facts.transposes_keys) end_tables_early(lowering);
    if (s.guarded_sums.defined()) // Halide forms them in any case
        guard_loop(lowering.generator, s.guarded_sums, loop_of(s.guarded_key), s.guarded);
    if (!s.cut.defined()) return;
    for (const RVar &loop : {facts.own_keys ? s.peak_head : s.peak_key, s.peak_lane})
        guard_loop(lowering.generator, loop_of(loop), s.cut);
}

} // namespace gyre::attention
