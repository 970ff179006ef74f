// Keys of f32 in columns: a step of them is transposed once a task, and all rows are scalars that multiply vectors of keys. No vector has a place for a
// row that is not there, and neither queries, results nor biases are transposed. Row tiles are large, and the last one ends with its rows.
#include "attention/recurrence/task_schedule.h"
#include "key_lanes.h"
#include "passes/loop_name.h"
#include "passes/order/lines_ahead.h"
#include "passes/order/loop_branches.h"
#include "passes/order/loop_limits.h"
#include "passes/order/short_tiles.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr const char *feature_block_loop = "feature_block"; // over blocks that are transposed

} // namespace

/// The last vector of a key that is no whole number of them ends where the key ends.
void KeyLanes::define_key_columns(const Inputs &in) {
    const Var &j = s.j, &b = s.b, &d = s.d;
    const int n = k.lanes;
    Func rows("key_rows");
    rows(d, j, b) = s.operands.k_rows(s.sizes.padded ? min(d / n * n, in.head_dim - n) + d % n : Expr(d), j, b);
    s.transposed_keys = transpose(rows, n, "transposed_keys", true, true);
    s.key_columns = Func("key_columns");
    s.key_columns(j, d, b) = s.transposed_keys.out(j, d, b);
}

Expr KeyLanes::place_of_feature(const Inputs &in, const Expr &feature) const {
    if (!s.sizes.padded) return feature;
    const Expr whole = in.head_dim / k.lanes * k.lanes, end = (in.head_dim + (k.lanes - 1)) / k.lanes * k.lanes;
    const Expr place = select(feature < whole, feature, feature + (end - in.head_dim));
    return unsafe_promise_clamped(place, 0, end - 1);
}

void KeyLanes::schedule_key_columns() {
    const Var jo("jo"), ji("ji"), d_o(feature_block_loop), di("di");
    Func &columns = s.key_columns;
    columns.compute_at(s.masked, s.key_step)
        .bound_storage(s.b, 1)
        .bound_storage(s.d, s.sizes.head_dim)
        .bound_extent(s.j, k.key_unroll);
    if (s.sizes.padded) columns.bound(s.d, 0, (k_features + (k.lanes - 1)) / k.lanes * k.lanes);
    columns.tile(s.j, s.d, jo, d_o, ji, di, k.lanes, k.lanes).reorder(ji, di, d_o, jo).vectorize(ji).unroll(di);
    schedule_transpose(s.transposed_keys, {columns, d_o});
}

/// Rows of a register tile.
void KeyLanes::unroll_rows(Stage stage, const Func &of, const Var &row) {
    if (!facts.in_columns) {
        stage.unroll(row);
        return;
    }
    const Var group("row_group"), within("row_of_group");
    stage.split(row, group, within, rows_of_group).unroll(within);
    row_groups.emplace(of.name(), group.name());
}

/// Each block of keys that is transposed asks for the same block of the next step.
void KeyLanes::ask_for_next_columns(const Lowering &lowering) const {
    const Func offsets = s.operands.k_offsets;
    const int n = k.lanes, table = s.sizes.key_block + n;
    Func(offsets).bound(s.j, 0, table).bound_storage(s.j, table);
    ask_ahead(lowering.generator, s.key_columns, feature_block_loop, lowering.keys,
              [=, step = loop_of(s.key_step)](const LoopValues &value) {
                  Asked asked;
                  for (int key = 0; key < n; key++)
                      asked.lines.push_back({offsets, (value(step) + 1) * n + key, value(feature_block_loop) * n});
                  return asked;
              });
}

/// Leaves out the groups of a task's last row tile that have no row.
void KeyLanes::end_last_tile(const Lowering &lowering) const {
    branch_before_loops(lowering.generator);
    ask_for_next_columns(lowering);
    const int tile = s.sizes.row_tile, groups = tile / rows_of_group;
    for (const Func &product : {s.masked, s.weighted_rows})
        end_short_tiles(lowering.generator,
                        {product, s.t.name(), lowering.rows, tile, groups, rows_of_group, busy_sums, row_groups, {}});
    const auto rows = [=, all = lowering.rows](const Expr &t) {
        return (min(all - t * tile, tile) + (rows_of_group - 1)) / rows_of_group * rows_of_group;
    };
    for (const Func &of_rows : {s.masked, s.general.bias_rows, s.lane_max, s.block_max, s.weights, s.lane_sum,
                                s.block_sum, s.inverse_sum, s.row_lse, s.out_copy})
        end_loop_early(lowering.generator, of_rows, s.r.name(), s.t.name(), rows);
    end_loop_early(lowering.generator, s.state, s.r.name(), TaskLoops().tile.name(), rows);
}

} // namespace gyre::attention
