#include "columns.h"

#include "attention/recurrence/cache_lines.h"

namespace gyre::attention {
using namespace Halide;

void schedule_columns_from_rows(Stages &s, ColumnUpdate of, Func rows, Transpose &lanes) {
    const int w = s.sizes.lanes;
    const Var ro(row_block_loop), ri("row_of_block");
    RVar whole("whole"), jo(column_block_loop), ji("ji");
    of.columns.update(of.update)
        .split(of.key, whole, ji, s.sizes.key_block, TailStrategy::GuardWithIf)
        .split(ji, jo, ji, w, TailStrategy::GuardWithIf)
        .split(s.r, ro, ri, w)
        .reorder(ri, ji, ro, jo, whole)
        .vectorize(ri)
        .never_partition_all();
    rows.compute_at(of.columns, whole)
        .bound_storage(s.b, 1)
        .bound_storage(s.j, s.sizes.key_block + cache_line)
        .vectorize(s.j, w, TailStrategy::RoundUp)
        .never_partition(s.r);
    schedule_transpose(lanes, {of.columns, ro});
}

void schedule_columns_from_pairs(Stages &s, PairUpdate of, Func rows, Transpose &lanes) {
    const int w = s.sizes.lanes, pairs = s.sizes.key_block / 2;
    const Var ro(row_block_loop), ri("row_of_block"), c = rows.args()[0];
    const RVar whole("whole_pairs"), jo(pair_block_loop), ji("pair");
    of.columns.update(of.update)
        .split(of.pair, whole, ji, pairs, TailStrategy::GuardWithIf)
        .split(ji, jo, ji, w, TailStrategy::GuardWithIf)
        .split(s.r, ro, ri, w)
        .reorder(ri, of.key, ji, ro, jo, whole)
        .vectorize(ri)
        .unroll(of.key)
        .unroll(ji)
        .never_partition_all();
    rows.compute_at(of.columns, whole)
        .bound_storage(s.b, 1)
        .bound_storage(c, pairs + cache_line)
        .vectorize(c, w, TailStrategy::RoundUp)
        .never_partition(s.r);
    schedule_transpose(lanes, {of.columns, ro});
}

} // namespace gyre::attention
