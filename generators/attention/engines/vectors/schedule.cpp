#include "vectors.h"

namespace gyre::attention {
using namespace Halide;

void Vectors::schedule_queries() { schedule_query_lanes(s, s.q_scaled, s.q_lanes, s.sizes.lanes, 1, s.sizes.lanes); }

// Scores are formed in register tiles of row_vectors vectors of queries and key_unroll keys. Each step takes one feature of these
// vectors, and multiplies it by a scalar of each key. Weighted values are formed alike, with feature_chunk features for keys.
void Vectors::schedule_products(const Levels &at) {
    rows.over(s.scores.compute_at(at.scores), s.scores, s.r).unroll(s.j);
    schedule_features(s, s.scores, {s.r, s.j}, k.key_vector);
    rows.over(s.scores.update(), s.scores, s.r).unroll(s.j);
    schedule_values_of_rows(s, at.values, rows);
    if (k.key_vector > 1) read_as_vectors(s.operands.v_rows, s.weighted, s.value_j, s.d, k.key_vector);
}

void schedule_values_of_rows(LaneStages &s, const LoopLevel &at, RowLoops &rows) {
    rows.over(s.weighted.compute_at(at), s.weighted, s.r).unroll(s.d);
    rows.over(s.weighted.update().reorder(s.r, s.d, s.value_j), s.weighted, s.r).unroll(s.d);
    if (s.guarded.defined())
        for (Stage stage : {s.weighted.update(1), s.weighted.update(2).reorder(s.r, s.d, s.guarded_j, s.guarded_turn)})
            rows.over(stage, s.weighted, s.r).unroll(s.d);
}

} // namespace gyre::attention
