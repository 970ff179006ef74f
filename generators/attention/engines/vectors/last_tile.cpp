// The last row tile of a task, which may be short.
#include "attention/variants/columns.h"
#include "passes/order/loop_limits.h"
#include "passes/order/short_tiles.h"
#include "row_vectors.h"

namespace gyre::attention {
using namespace Halide;

/// Leaves out the vectors of a task's last row tile that have no row, and the rows of its biases that are not there.
void RowVectors::end_last_tile(const Lowering &lowering) const {
    const Stages &s = shared();
    const Sizes &z = s.sizes;
    const Expr of_tile = s.rows_of_tile();
    const std::string along = s.r.name(), tile = s.t.name();
    end_short_tiles(lowering.generator, {s.state,
                                         TaskLoops().tile.name(),
                                         lowering.rows,
                                         of_tile,
                                         k.row_vectors,
                                         z.lanes,
                                         busy_sums,
                                         rows.names,
                                         {along, "mask_rows", row_block_loop}});
    const auto vectors = [=, rows_of_task = lowering.rows](const Expr &t) {
        return (min(rows_of_task - t * of_tile, of_tile) + (z.lanes - 1)) / z.lanes;
    };
    end_loop_early(lowering.generator, s.state, along, tile, vectors);
    for (const Func &rows_of_tile : {s.inverse_sum, s.row_lse})
        end_loop_early(lowering.generator, rows_of_tile, along, tile, vectors);
    end_loop_early(lowering.generator, s.out_copy, "ro", tile, vectors);
    end_queries_early(lowering, tile, vectors);
}

} // namespace gyre::attention
