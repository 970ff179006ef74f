#include "vectors.h"

namespace gyre::attention {
using namespace Halide;

void Vectors::schedule_queries() { schedule_query_lanes(s, s.q_scaled, s.q_lanes, s.sizes.lanes, 1, s.sizes.lanes); }

// Scores are formed in register tiles of row_vectors vectors of queries and key_unroll keys. Each step takes one feature of these
// vectors, and multiplies it by a scalar of each key. Weighted values are formed alike, with feature_chunk features for keys.
void Vectors::schedule_products(const Levels &at) {
    const int w = s.sizes.lanes;
    s.scores.compute_at(at.scores).vectorize(s.r, w).unroll(s.r).unroll(s.j);
    schedule_features(s, s.scores, {s.r, s.j}, k.key_vector);
    s.scores.update().vectorize(s.r, w).unroll(s.r).unroll(s.j);
    schedule_values_of_rows(s, at.values);
    if (k.key_vector > 1) read_as_vectors(s.operands.v_rows, s.weighted, s.value_j, s.d, k.key_vector);
}

void schedule_values_of_rows(LaneStages &s, const LoopLevel &at) {
    const int w = s.sizes.lanes;
    s.weighted.compute_at(at).vectorize(s.r, w).unroll(s.r).unroll(s.d);
    s.weighted.update().reorder(s.r, s.d, s.value_j).vectorize(s.r, w).unroll(s.r).unroll(s.d);
    if (s.guarded.defined())
        for (Stage stage : {s.weighted.update(1), s.weighted.update(2).reorder(s.r, s.d, s.guarded_j, s.guarded_turn)})
            stage.vectorize(s.r, w).unroll(s.r).unroll(s.d);
}

} // namespace gyre::attention
