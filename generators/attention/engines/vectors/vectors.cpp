#include "vectors.h"

#include "attention/recurrence/blocks.h"
#include "attention/recurrence/features.h"

namespace gyre::attention {
using namespace Halide;

void define_scaled_lanes(LaneStages &s, const Expr &scale) {
    s.q_lanes = transpose(s.q_rows, s.sizes.lanes, "q_lanes", true);
    s.q_scaled = Func("q_scaled");
    s.q_scaled(s.r, s.d, s.t) = s.q_lanes.out(s.r, s.d, s.t) * scale;
}

void Vectors::define_queries(const Inputs &in) { define_scaled_lanes(s, in.scale); }

void Vectors::define_scores(const Inputs &in) {
    // What is behind a row in memory is not read.
    const Expr count = s.sizes.padded ? features_in_steps(k.key_vector, in.head_dim, s.sizes.head_dim) : s.k_features;
    const Expr feature = features_of_scores(s, count, k.key_vector);
    s.scores = Func("scores");
    s.scores(s.r, s.j, s.t, s.b) += s.q_scaled(s.r, feature, s.t) * s.operands.k_rows(feature, s.j, s.b);
}

/// Masks from the first key on that some row does not see.
void Vectors::define_maximum(const Visible &visible) {
    if (!facts.of_avx2) return RowVectors::define_maximum(visible);
    const Expr first_key = s.b * s.sizes.key_block;
    const Expr from = select(first_key < visible.every_first, 0, visible.every_last + 1 - first_key);
    mask_scores(s, visible, steps(), visible.at_edge(first_key, s.sizes.key_block), from);
    find_maximum(s, visible, keys_of_maximum());
}

void Vectors::define_product_of_values(const Inputs &, const Visible &visible) {
    const RDom keys = keys_in_sight(visible, "keys");
    s.value_j = keys;
    s.weighted(s.r, s.d, s.t, s.b) += value_weight(keys) * s.operands.v_rows(s.d, keys, s.b);
    guard(s.weighted, visible, {s.r, s.d});
}

} // namespace gyre::attention
