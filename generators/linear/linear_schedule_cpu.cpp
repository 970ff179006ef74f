#include "linear_schedules.h"

namespace gyre::linear {
using namespace Halide;

// A tile of rows at a time: its scores with the keys it sees, a register tile of panel and rows each, stay in L1 for the sums,
// which run in register tiles of features and rows. In the products vectors are of keys, in the sums of features; rows are
// scalars.
void schedule_cpu(Stages &s, const Knobs &k) {
    const Sizes &z = s.sizes;
    const int w = k.lanes;
    Var chunk("chunk"), within("within");
    s.out.update()
        .split(s.e, chunk, within, z.features, TailStrategy::RoundUp)
        .reorder(within, s.y, chunk, s.t)
        .vectorize(within, w)
        .unroll(within)
        .unroll(s.y)
        .never_partition_all();
    s.sum.compute_at(s.out, chunk).vectorize(s.e, w).unroll(s.e).unroll(s.y);
    s.sum.update(0).reorder(s.e, s.y, s.summed_key, s.summed_tile).vectorize(s.e, w).unroll(s.e).unroll(s.y);
    s.sum.update(1).reorder(s.e, s.y, s.own_key).vectorize(s.e, w).unroll(s.e).unroll(s.y).unroll(s.own_key);
    s.sum.update(2).reorder(s.e, s.y, s.state_feature).vectorize(s.e, w).unroll(s.e).unroll(s.y);

    s.weights.compute_at(s.out, s.t).bound(s.j, 0, z.rows).bound(s.y, 0, z.tile);
    s.weights.update()
        .allow_race_conditions()
        .reorder(s.formed_key, s.y, s.formed_panel)
        .vectorize(s.formed_key, w)
        .unroll(s.formed_key)
        .unroll(s.y)
        .never_partition_all();
    // Bounds inference would take the mask for a shape.
    s.scores.compute_at(s.weights, s.formed_panel).bound_extent(s.j, z.key_lanes).bound(s.y, 0, z.tile);
    s.scores.vectorize(s.j, w).unroll(s.j).unroll(s.y);
    s.scores.update().reorder(s.j, s.y, s.score_feature).vectorize(s.j, w).unroll(s.j).unroll(s.y);
}

} // namespace gyre::linear
