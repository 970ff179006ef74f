#include "folded.h"

namespace gyre::attention {
using namespace Halide;

void Folded::check() const {
    _halide_user_assert(!s.general.bias_rows.defined())
        << "fold is " << k.fold << ", expected 0 in the general family\n";
    check_divides("fold", k.fold, "lanes", k.lanes);
    check_divides("lanes", k.lanes, "feature_chunk", k.feature_chunk);
    RowVectors::check();
    _halide_user_assert(k.key_vector == 1 || k.fold == 1)
        << "key_vector is " << k.key_vector << ", expected 1 with fold above 1\n";
    if (!facts.across) return;
    check_divides("fold", k.fold, "key_unroll", k.key_unroll);
    _halide_user_assert(s.sizes.row_tile * k.fold == k.lanes)
        << "row_vectors times row_tiles is " << k.row_vectors * k.row_tiles << ", expected 1 for sums across lanes\n";
}

void Folded::schedule_queries() {
    const Sizes &z = s.sizes;
    if (!facts.across) return schedule_query_lanes(s, s.q_scaled, s.q_lanes, z.lanes, 1, z.lanes);
    s.q_rows.compute_root().bound_storage(s.t, z.task_tiles).bound(s.d, 0, z.head_dim).bound(s.r, 0, z.row_tile);
    schedule_rotated_rows(s.q_rows, s.q_rotated, k.lanes);
}

void Folded::schedule_scores(const Levels &at) {
    const Sizes &z = s.sizes;
    const int w = z.lanes;
    schedule_folded_queries(s, k.fold, z.head_dim / k.fold);
    s.folded_scores.compute_at(at.scores).bound(s.f, 0, k.fold);
    schedule_features(s, s.folded_scores, {s.f, s.r, s.j}, k.key_vector);
    join_feature_turns(s, joined_turns());
    for (Stage stage : {Stage(s.folded_scores), Stage(s.folded_scores.update())})
        stage.vectorize(s.f).vectorize(s.r, w).unroll(s.r).unroll(s.j);
}

// All products of a step are in registers, where a key's vector multiplies those of all rows.
void Folded::schedule_scores_across_lanes(const Levels &at) {
    const Var g = s.across.sums.back().args()[2];
    schedule_sums_across_lanes(s.across, at.scores);
    for (auto *rounds : {&s.across.pairs, &s.across.sums})
        for (Func &round : *rounds) round.bound_extent(g, k.key_unroll / k.fold).unroll(g);
    s.folded_scores.compute_at(at.scores).bound(s.f, 0, k.lanes).bound(s.r, 0, s.sizes.row_tile);
    s.folded_scores.bound_extent(s.j, k.key_unroll);
    s.folded_scores.update().reorder(s.f, s.r, s.j, s.feature);
    s.folded_scores.vectorize(s.f).unroll(s.r).unroll(s.j);
    for (int update = 0; update < s.folded_scores.num_update_definitions(); update++)
        s.folded_scores.update(update).vectorize(s.f).unroll(s.r).unroll(s.j);
}

void Folded::schedule_products(const Levels &at) {
    const int w = s.sizes.lanes, wide = w * k.fold;
    if (facts.across)
        schedule_scores_across_lanes(at);
    else
        schedule_scores(at);
    if (s.lane_sums.defined()) {
        s.lane_sums.compute_at(at.weights).bound_storage(s.b, 1);
        s.lane_sums.bound(s.r, 0, s.sizes.row_tile).bound(s.l, 0, keys_in_vector());
        for (Stage stage : {Stage(s.lane_sums), s.lane_sums.update().reorder(s.r, s.l, s.sum_j)})
            stage.vectorize(s.r).vectorize(s.l);
    }
    s.weighted_rows.compute_at(at.values).bound_storage(s.b, 1);
    schedule_weighted_rows(s, wide);
    if (k.key_vector > 1) read_as_vectors(s.weights, s.weighted_rows, s.value_j, s.r, w);
    schedule_guarded_rows(s, s.weighted_rows, wide);
    schedule_transpose(s.weighted_lanes, at.values);
}

} // namespace gyre::attention
