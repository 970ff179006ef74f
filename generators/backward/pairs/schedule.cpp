// HOW gradients are computed by products of pairs of bf16 numbers.
#include "backward/pairs/schedule.h"

#include "backward/backward_parts.h"

namespace gyre::backward {
using namespace Halide;
namespace {

constexpr int pairs_apart = 16; // more than a row needs: a cache line

/// Pairs whose inner dimension is features, in rows that are a cache line longer than they need be.
void schedule_rows(Func pairs, const Var &inner, int most, int w) {
    pairs.compute_root().bound_storage(inner, most + pairs_apart).update().vectorize(inner, w);
}

void schedule_operands(PairStages &s, int w) {
    for (const Func &pairs : {s.q_features, s.out_grad_features}) schedule_rows(pairs, s.c, most_features / 2, w);
    for (const Func &pairs : {s.k_keys, s.q_rows, s.out_grad_rows}) schedule_rows(pairs, s.d, most_features, w);
    for (Func pairs : {s.k_features, s.v_features})
        pairs.compute_root()
            .bound(s.l, 0, s.sizes.key_lanes)
            .bound_storage(s.c, most_features / 2)
            .update()
            .vectorize(s.l, w)
            .unroll(s.l);
}

void schedule_pairs_of_product(PairStages &s, Func product, const RVar &feature, int w) {
    product.compute_at(s.weight_pairs, s.formed_tile).vectorize(s.j, w).unroll(s.j).unroll(s.y);
    product.update().reorder(s.j, s.y, feature).vectorize(s.j, w).unroll(s.j).unroll(s.y);
}

} // namespace

void schedule_of_pairs(PairStages &s, const Inputs &in, const Knobs &k) {
    const Sizes &z = s.sizes;
    const int w = k.lanes;
    schedule_guard(s, w);
    schedule_operands(s, w);
    s.weight_pairs.compute_root().bound(s.j, 0, z.keys).bound(s.c, 0, z.tile / 2).bound(s.t, 0, z.rows / z.tile);
    s.weight_pairs.update(0)
        .allow_race_conditions()
        .reorder(s.formed_lane, s.formed_vector, s.formed_pair, s.formed_tile, s.formed_panel)
        .vectorize(s.formed_lane)
        .unroll(s.formed_vector)
        .unroll(s.formed_pair)
        .never_partition_all();
    s.weight_pairs.update(1)
        .allow_race_conditions()
        .reorder(s.edge_lane, s.edge_vector, s.edge_panel, s.edge_pair, s.edge_tile)
        .vectorize(s.edge_lane)
        .unroll(s.edge_vector);
    if (s.exponents.defined()) {
        s.row_delta.compute_at(s.weight_pairs, s.formed_tile);
        s.exponents.compute_at(s.weight_pairs, s.formed_pair).vectorize(s.j, w).unroll(s.j).unroll(s.y);
        s.weight_pairs.update(0).specialize(in.alibi == 0.0f);
    }
    s.weights.compute_at(s.weight_pairs, s.formed_pair).vectorize(s.j, w).unroll(s.j).unroll(s.y);
    schedule_pairs_of_product(s, s.scores, s.score_feature, w);
    schedule_pairs_of_product(s, s.prob_grads, s.prob_feature, w);
    schedule_sums(s, w);
    if (!z.general) return;
    schedule_general(s, w);
    s.weight_pairs.update(0).specialize(in.softcap > 0.0f);
}

} // namespace gyre::backward
