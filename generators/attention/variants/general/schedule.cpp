#include "attention/variants/columns.h"
#include "scores.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;

void schedule_general(Stages &s, const LoopLevel &tile) {
    GeneralStages &g = s.general;
    const int w = s.sizes.lanes;
    const int bytes = std::min(s.sizes.key_block, static_cast<int>(sizeof(float)) * w); // of a vector
    for (Func *of_tile : {&g.mask_least, &g.least_byte, &g.hides, &g.unchanged})
        if (of_tile->defined()) of_tile->compute_at(tile).bound_storage(s.b, 1);
    g.mask_least.bound(g.l, 0, s.sizes.key_block).vectorize(g.l, bytes).unroll(g.l);
    g.mask_least.update().vectorize(g.l, bytes).unroll(g.l);
    g.least_byte.update().atomic().vectorize(g.mask_byte);
    schedule_columns_from_rows(s, {s.masked, g.bias_update, g.bias_j}, g.bias_rows, g.bias_lanes);
    g.bias_rows.update().vectorize(g.attend_j, w).never_partition(s.r);
    if (g.pair_update >= 0)
        schedule_columns_from_pairs(s, {s.masked, g.pair_update, g.key_of_pair, g.pair_c}, g.pair_rows, g.pair_lanes);
    if (g.row_slopes.defined())
        g.row_slopes.compute_root().bound_storage(s.t, s.sizes.task_tiles).bound(s.r, 0, s.sizes.row_tile);
}

void schedule_general_along_keys(Stages &s, const LoopLevel &tile, int lanes) {
    GeneralStages &g = s.general;
    const auto vectors_of_keys = [](Stage update, const RVar &lane) { update.allow_race_conditions().vectorize(lane); };
    vectors_of_keys(s.masked.update(1), g.cap_j);
    vectors_of_keys(s.masked.update(g.bias_update), g.bias_j);
    g.bias_rows.compute_at(tile)
        .bound_storage(s.b, 1)
        .bound_storage(s.j, s.sizes.key_block + lanes)
        .vectorize(s.j, lanes, TailStrategy::RoundUp)
        .never_partition(s.r);
    g.bias_rows.update().vectorize(g.attend_j, lanes).never_partition(s.r);
}

} // namespace gyre::attention
