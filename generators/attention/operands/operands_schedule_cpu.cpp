#include "../../math/norms.h"
#include "../../passes/instructions/tile_products.h"
#include "operands_schedules.h"

namespace gyre::operands {
using namespace Halide;

// A block of keys at a time, each output in a loop of its own: rows stay in the caches from one to the next.
void schedule_cpu(Stages &s, int head_dim, int lanes) {
    Var fo("fo"), fi("fi");
    s.k_rows.compute_root();
    schedule_rotated_rows(s.k_rows, s.k_rotated, tile_depth, tile_depth);
    s.v_blocks.compute_root()
        .bound(s.c, 0, tile_depth / 2)
        .bound(s.d, 0, head_dim)
        .split(s.d, fo, fi, lanes)
        .reorder(s.c, fi, fo, s.g)
        .vectorize(s.c, lanes)
        .unroll(fi);
    schedule_transpose(s.v_lanes, {s.v_blocks, fo});
    s.v_rows.compute_at(s.v_blocks, s.g).bound_storage(s.g, 1);
    schedule_rotated_rows(s.v_rows, s.v_rotated, tile_depth, tile_depth);
    s.key_squares.compute_root().bound(s.l, 0, norm_lanes).vectorize(s.l, lanes);
    s.key_squares.update().reorder(s.l, s.key, s.g).vectorize(s.l, lanes);
    s.marks.compute_root().bound(s.l, 0, lanes).vectorize(s.l, lanes);
    s.marks.update().reorder(s.l, s.marked_pair, s.marked_feature, s.marked_block).vectorize(s.l, lanes);
}

} // namespace gyre::operands
