#include "merge_schedules.h"

namespace gyre::merge {
using namespace Halide;

namespace {

/// Rows are heads times tokens, and vectors take tokens of a head; of a single token they take its heads, and some that are not there.
void vectorize_rows(Stage stage, const Stages &s, const Expr &tokens, int lanes) {
    stage.specialize(tokens == 1).vectorize(s.h, lanes, TailStrategy::RoundUp);
    stage.vectorize(s.i, lanes, TailStrategy::GuardWithIf);
}

} // namespace

// A row's features stay in L1 while the parts, each with one weight, are added to them.
void schedule_cpu(Stages &s, const Expr &parts, const Expr &tokens, int lanes) {
    for (Func *per_row : {&s.top, &s.total}) {
        per_row->compute_root().bound_storage(s.i, most_tokens).bound_storage(s.h, most_heads);
        vectorize_rows(*per_row, s, tokens, lanes);
        Stage update = per_row->update();
        update.specialize(tokens == 1).reorder(s.h, s.i, s.part).vectorize(s.h, lanes, TailStrategy::RoundUp);
        update.reorder(s.i, s.part, s.h).vectorize(s.i, lanes, TailStrategy::GuardWithIf);
    }
    for (Func *per_row : {&s.shared, &s.row_lse}) {
        per_row->compute_root().bound_storage(s.i, most_tokens).bound_storage(s.h, most_heads);
        vectorize_rows(*per_row, s, tokens, lanes);
    }
    s.out.compute_root().specialize(parts == 1).vectorize(s.d, lanes, TailStrategy::GuardWithIf);
    s.out.vectorize(s.d, lanes, TailStrategy::GuardWithIf);
    s.sum.compute_at(s.out, s.h).bound_storage(s.d, most_features).vectorize(s.d, lanes, TailStrategy::GuardWithIf);
    s.sum.update().reorder(s.d, s.part).vectorize(s.d, lanes, TailStrategy::GuardWithIf);
    s.lse.compute_root().vectorize(s.i, lanes, TailStrategy::GuardWithIf);
}

} // namespace gyre::merge
