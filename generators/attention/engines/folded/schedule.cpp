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
}

void Folded::schedule_products(const Levels &at) {
    const Sizes &z = s.sizes;
    const int w = z.lanes, wide = w * k.fold;
    s.q_folded.compute_root()
        .bound_storage(s.t, z.task_tiles)
        .bound_storage(s.q_folded.args()[2], z.head_dim / k.fold)
        .bound(s.f, 0, k.fold)
        .bound(s.r, 0, z.row_tile)
        .vectorize(s.f)
        .vectorize(s.r, w);
    s.folded_scores.compute_at(at.scores).bound(s.f, 0, k.fold);
    schedule_features(s, s.folded_scores, {s.f, s.r, s.j}, k.key_vector);
    for (Stage stage : {Stage(s.folded_scores), Stage(s.folded_scores.update())})
        stage.vectorize(s.f).vectorize(s.r, w).unroll(s.r).unroll(s.j);
    s.weighted_rows.compute_at(at.values).bound_storage(s.b, 1);
    schedule_weighted_rows(s, wide);
    if (k.key_vector > 1) read_as_vectors(s.weights, s.weighted_rows, s.value_j, s.r, w);
    schedule_guarded_rows(s, s.weighted_rows, wide);
    schedule_transpose(s.weighted_lanes, at.values);
}

} // namespace gyre::attention
