#include "columns.h"

#include "attention/recurrence/cache_lines.h"

namespace gyre::attention {
using namespace Halide;

void schedule_columns_from_rows(Stages &s, ColumnUpdate of, Func rows, Transpose &lanes) {
    const int w = s.sizes.lanes;
    RVar whole("whole"), jo(column_block_loop), ji("ji");
    of.columns.update(of.update)
        .split(of.key, whole, ji, s.sizes.key_block, TailStrategy::GuardWithIf)
        .split(ji, jo, ji, w, TailStrategy::GuardWithIf)
        .reorder(s.r, ji, jo, whole)
        .vectorize(s.r, w)
        .never_partition_all();
    rows.compute_at(of.columns, whole)
        .bound_storage(s.b, 1)
        .bound_storage(s.j, s.sizes.key_block + cache_line)
        .vectorize(s.j, w, TailStrategy::RoundUp)
        .never_partition(s.r);
    schedule_transpose(lanes, {of.columns, jo});
}

} // namespace gyre::attention
