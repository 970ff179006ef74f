#include "folded_pairs.h"

#include "passes/instructions/bf16_dot.h"
#include "passes/instructions/bf16_roundings.h"
#include "passes/instructions/neighbour_pairs.h"
#include "passes/instructions/neighbour_sums.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int few_rows = 4; // tiles of at most so many have steps of more keys

/// How many turns of the loop over features become one. Tiles of few rows gain nothing by it: bench/notes.
int joined_turns(const Sizes &z, int turns) {
    constexpr int least_turns = 8;
    return z.row_tile > few_rows && turns % least_turns == 0 ? turns / least_turns : 1;
}

} // namespace

void FoldedPairs::check() const {
    RowVectors::check();
    _halide_user_assert(provider->reads_in_place() && k.lanes == bf16_dot_lanes && k.key_vector == 1)
        << "expected as_stored=true, lanes=" << bf16_dot_lanes << " and key_vector=1 for folded pairs of bf16\n";
    _halide_user_assert(s.sizes.feature_chunk < s.sizes.head_dim)
        << "feature_chunk is " << s.sizes.feature_chunk << ", expected less than " << s.sizes.head_dim << "\n";
    _halide_user_assert(k.key_unroll < s.sizes.key_block)
        << "key_unroll is " << k.key_unroll << ", expected less than key_block, " << s.sizes.key_block << "\n";
    check_divides("twice the lanes", 2 * bf16_dot_lanes, "feature_chunk", s.sizes.feature_chunk);
    check_divides("the keys whose weights are formed together", FoldedPairStages::weighed_keys, "key_unroll",
                  k.key_unroll);
}

void FoldedPairs::schedule_queries() {
    schedule_query_lanes(s, s.q_scaled, s.q_lanes, s.sizes.lanes / 2, 2, s.sizes.lanes);
}

// Register tiles of scores are vectors of rows beside their pairs of features, times a few keys; those of weighted values rows times
// vectors of features.
void FoldedPairs::schedule_products(const Levels &at) {
    const Sizes &z = s.sizes;
    const int w = z.lanes;
    const int turns = z.head_dim / (2 * k.fold);
    schedule_folded_queries(s, k.fold, turns);
    s.folded_scores.compute_at(at.scores).bound(s.f, 0, k.fold);
    s.folded_scores.update().reorder(s.f, s.r, s.j, s.feature);
    join_feature_turns(s, joined_turns(z, turns));
    for (Stage stage : {Stage(s.folded_scores), Stage(s.folded_scores.update())})
        stage.vectorize(s.f).vectorize(s.r, w).unroll(s.r).unroll(s.j);
    s.weight_pairs.compute_at(at.weights)
        .bound_storage(s.b, 1)
        .bound_storage(s.c, z.key_block / FoldedPairStages::weighed_keys);
    s.weight_pairs.update().reorder(s.r, s.paired_group).vectorize(s.r, w).unroll(s.r);
    s.weighted_rows.compute_at(at.values).bound_storage(s.b, 1);
    schedule_weighted_rows(s, bf16_dot_lanes);
    schedule_guarded_rows(s, s.weighted_rows, bf16_dot_lanes);
    schedule_transpose(s.weighted_lanes, at.values);
}

void FoldedPairs::lower(const Lowering &lowering) const {
    map_neighbour_pairs(lowering.generator);
    map_bf16_dots(lowering.generator);
    map_bf16_roundings(lowering.generator);
    RowVectors::lower(lowering);
    take_neighbours_from_one_load(lowering.generator);
    constexpr int places = 2; // rows that follow each other are read quicker from two places
    const Sizes &z = s.sizes;
    const int of_features = z.head_dim / (2 * k.fold);
    BlockTurns turns{z.key_block / k.key_unroll, of_features / joined_turns(z, of_features),
                     z.key_block / FoldedPairStages::weighed_keys, k.lanes};
    turns.places = places;
    turns.asks_for_all_ends = z.row_tile <= few_rows;
    ask_for_blocks(s, lowering, turns);
}

} // namespace gyre::attention
