// The two products by dot products of bf16 pairs (passes/instructions/bf16_dot.h).
#include "pairs.h"

#include "attention/recurrence/cache_lines.h"
#include "passes/instructions/bf16_dot.h"

namespace gyre::attention {
using namespace Halide;

void Pairs::check() const {
    RowVectors::check();
    const Sizes &z = s.sizes;
    const int step = steps().scored;
    const auto is = [](const char *name, int value, int expected) {
        _halide_user_assert(value == expected)
            << name << " is " << value << ", expected " << expected << ", for products of bf16 pairs\n";
    };
    is("lanes", z.lanes, bf16_dot_lanes);
    is("key_vector", k.key_vector, 1);
    _halide_user_assert(z.key_block % step == 0)
        << "key_block is " << z.key_block << ", expected a multiple of " << step << ", for products of bf16 pairs\n";
}

// A block of transposed queries has half as many pairs as rows.
void Pairs::schedule_queries() { schedule_query_lanes(s, s.q_scaled, s.q_lanes, s.sizes.lanes / 2, 2, s.sizes.lanes); }

// Register tiles as those of f32 (engines/vectors/schedule.cpp): vectors of queries times a few keys or features, whose pairs
// are scalars. Keys and values are put into pairs once a task and block.
void Pairs::schedule_products(const Levels &at) {
    const Sizes &z = s.sizes;
    const int w = z.lanes;
    for (Func *pairs : {&s.k_pairs, &s.v_pairs}) pairs->compute_at(s.state, s.block).bound_storage(s.b, 1);
    s.k_pairs.bound_storage(s.j, z.key_block)
        .bound_storage(s.c, z.head_dim / 2 + cache_line)
        .vectorize(s.c, w, TailStrategy::RoundUp);
    s.v_pairs.bound_storage(s.c, z.key_block / 2)
        .bound_storage(s.d, z.v_head_dim + cache_line)
        .vectorize(s.d, w, TailStrategy::RoundUp);
    // Values stay where they are: they are looked at whether they are finite. Vectors of pairs reach beyond the last feature.
    const int features_in_vectors = (z.head_dim + 2 * w - 1) / (2 * w) * 2 * w;
    s.operands.k_rows.compute_at(s.k_pairs, s.j).bound_storage(s.d, features_in_vectors);

    rows.over(s.score_sums.compute_at(at.scores), s.score_sums, s.r).unroll(s.j);
    rows.over(s.score_sums.update().reorder(s.r, s.j, s.feature), s.score_sums, s.r).unroll(s.j);

    s.weight_pairs.compute_at(at.weights)
        .bound_storage(s.b, 1)
        .bound_storage(s.c, z.key_block / PairStages::weighed_keys);
    rows.over(s.weight_pairs.update().reorder(s.r, s.weight_j), s.weight_pairs, s.r);

    schedule_values_of_rows(s, at.values, rows);
}

} // namespace gyre::attention
