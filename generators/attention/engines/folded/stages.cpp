#include "stages.h"

namespace gyre::attention {
using namespace Halide;

void define_folded_scores(FoldedStages &s, int fold, int together, const FoldedQuery &query) {
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f;
    const Expr features = features_of_scores(s, s.k_features / fold, together);
    s.folded_scores = Func("folded_scores");
    s.folded_scores(f, r, j, t, b) += query(features) * s.operands.k_rows(features * fold + f, j, b);
    Expr sum = s.folded_scores(0, r, j, t, b);
    for (int n = 1; n < fold; n++) sum += s.folded_scores(n, r, j, t, b);
    s.scores = Func("scores");
    s.scores(r, j, t, b) = sum;
}

void schedule_folded_queries(FoldedStages &s, int fold, int turns) {
    const Sizes &z = s.sizes;
    s.q_folded.compute_root()
        .bound_storage(s.t, z.task_tiles)
        .bound_storage(s.q_folded.args()[2], turns)
        .bound(s.f, 0, fold)
        .bound(s.r, 0, z.row_tile)
        .vectorize(s.f)
        .vectorize(s.r, z.lanes);
}

void join_feature_turns(FoldedStages &s, int turns) {
    if (turns == 1) return;
    const RVar turn("turn"), within("within");
    s.folded_scores.update().split(s.feature, turn, within, turns).reorder(s.f, s.r, s.j, within, turn).unroll(within);
    s.feature = turn;
}

void schedule_weighted_rows(FoldedStages &s, int lanes) {
    for (Stage stage : {Stage(s.weighted_rows), s.weighted_rows.update().reorder(s.d, s.r, s.value_j)})
        stage.vectorize(s.d, lanes).unroll(s.d).unroll(s.r);
}

void schedule_guarded_rows(FoldedStages &s, Func product, int lanes, bool unrolled) {
    if (!s.guarded.defined()) return;
    const int last = product.num_update_definitions() - 1;
    for (Stage stage :
         {product.update(last - 1), product.update(last).reorder(s.d, s.r, s.guarded_j, s.guarded_turn)}) {
        stage.vectorize(s.d, lanes);
        if (unrolled) stage.unroll(s.d).unroll(s.r);
    }
    if (!s.guarded_sums.defined()) return;
    const std::vector<Var> at = s.guarded_sums.args();
    s.guarded_sums.compute_at(product, s.guarded_j).bound_storage(at[0], s.sizes.v_head_dim).vectorize(at[0], lanes);
    s.guarded_sums.update().reorder(at[0], at[1], s.guarded_key).vectorize(at[0], lanes);
}

} // namespace gyre::attention
