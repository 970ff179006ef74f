#include "merge_schedules.h"

namespace gyre::merge {
using namespace Halide;

// A row's features stay in L1 while the parts, each with one weight, are added to them.
void schedule_cpu(Stages &s, int lanes) {
    for (Func *per_row : {&s.top, &s.total}) {
        per_row->compute_root()
            .bound_storage(s.i, most_tokens)
            .bound_storage(s.h, most_heads)
            .vectorize(s.i, lanes, TailStrategy::GuardWithIf);
        per_row->update().reorder(s.i, s.part, s.h).vectorize(s.i, lanes, TailStrategy::GuardWithIf);
    }
    s.shared.compute_root()
        .bound_storage(s.i, most_tokens)
        .bound_storage(s.h, most_heads)
        .vectorize(s.i, lanes, TailStrategy::GuardWithIf);
    s.out.compute_root().vectorize(s.d, lanes, TailStrategy::GuardWithIf);
    s.sum.compute_at(s.out, s.h).bound_storage(s.d, most_features).vectorize(s.d, lanes, TailStrategy::GuardWithIf);
    s.sum.update().reorder(s.d, s.part).vectorize(s.d, lanes, TailStrategy::GuardWithIf);
    s.lse.compute_root().vectorize(s.i, lanes, TailStrategy::GuardWithIf);
}

} // namespace gyre::merge
