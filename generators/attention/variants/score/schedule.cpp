#include "attention/variants/columns.h"
#include "stage.h"

namespace gyre::attention {
using namespace Halide;

void schedule_score(Stages &s, const LoopLevel &tile) {
    const Sizes &z = s.sizes;
    const int w = z.lanes;
    ScoreParts &parts = s.score.parts;
    const Var &x = s.score.x;
    for (Func &f : parts.by_query)
        f.compute_root().bound_storage(s.t, z.task_tiles).vectorize(s.r, w, TailStrategy::RoundUp);
    for (Func &f : parts.by_key)
        f.compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(s.j, z.key_block)
            .vectorize(s.j, w, TailStrategy::RoundUp);
    for (Func &f : parts.by_distance)
        f.compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(x, z.row_tile * z.task_tiles + z.key_block)
            .vectorize(x, w, TailStrategy::RoundUp);
    for (ScoreParts::Along &a : parts.along) {
        a.kept.compute_at(tile).bound_storage(s.b, 1).bound_storage(s.j, z.key_block);
        if (a.rows.defined())
            schedule_columns_from_rows(s, {a.kept, 0, a.key}, a.rows, a.lanes);
        else
            a.kept.update().vectorize(s.r, w);
    }
}

} // namespace gyre::attention
