// The two products by dot products of bf16 pairs (passes/bf16_dot.h).
#include "attention/attention_schedules.h"
#include "passes/bf16_dot.h"

#include <numeric>

namespace gyre::attention {
using namespace Halide;
namespace {

void check_pair_knobs(const Sizes &z, const Knobs &k) {
    const auto is = [](const char *name, int value, int expected) {
        _halide_user_assert(value == expected)
            << name << " is " << value << ", expected " << expected << ", for products of bf16 pairs\n";
    };
    is("lanes", z.lanes, bf16_dot_lanes);
    is("key_vector", k.key_vector, 1);
    _halide_user_assert(z.key_block % z.key_step == 0) << "key_block is " << z.key_block << ", expected a multiple of "
                                                       << z.key_step << ", for products of bf16 pairs\n";
}

} // namespace

int pair_key_step(int key_unroll) { return std::lcm(key_unroll, 2 * Stages::weighed_pairs); }

// Register tiles as those of f32 (engines/vectors/products_schedule.cpp): vectors of queries times a few keys or features, whose pairs
// are scalars. Keys and values are put into pairs once a task and block.
void schedule_pairs(Stages &s, const Knobs &k, const LoopLevel &scores_at, const LoopLevel &weights_at,
                    const LoopLevel &values_at) {
    const Sizes &z = s.sizes;
    const int w = z.lanes;
    check_pair_knobs(z, k);
    for (Func *pairs : {&s.k_pairs, &s.v_pairs}) pairs->compute_at(s.state, s.block).bound_storage(s.b, 1);
    s.k_pairs.bound_storage(s.j, z.key_block)
        .bound_storage(s.c, z.head_dim / 2 + cache_line)
        .vectorize(s.c, w, TailStrategy::RoundUp);
    s.v_pairs.bound_storage(s.c, z.key_block / 2)
        .bound_storage(s.d, z.v_head_dim + cache_line)
        .vectorize(s.d, w, TailStrategy::RoundUp);
    s.k_rows.compute_at(s.k_pairs, s.j); // values are looked at whether they are finite, so that they stay

    s.score_sums.compute_at(scores_at).vectorize(s.r, w).unroll(s.r).unroll(s.j);
    s.score_sums.update().reorder(s.r, s.j, s.feature).vectorize(s.r, w).unroll(s.r).unroll(s.j);

    s.weight_pairs.compute_at(weights_at)
        .bound_storage(s.b, 1)
        .bound_storage(s.c, z.key_block / (2 * Stages::weighed_pairs));
    s.weight_pairs.update().reorder(s.r, s.weight_j).vectorize(s.r, w).unroll(s.r);

    s.weighted.compute_at(values_at).vectorize(s.r, w).unroll(s.r).unroll(s.d);
    s.weighted.update().reorder(s.r, s.d, s.value_j).vectorize(s.r, w).unroll(s.r).unroll(s.d);
    for (Stage stage : {s.weighted.update(1), s.weighted.update(2).reorder(s.r, s.d, s.guarded_j, s.guarded_turn)})
        stage.vectorize(s.r, w).unroll(s.r).unroll(s.d);
}

} // namespace gyre::attention
