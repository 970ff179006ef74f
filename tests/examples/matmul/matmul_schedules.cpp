#include "matmul_schedules.h"

#include <passes/instructions/bf16_matrices.h>
#include <passes/instructions/tile_products.h>

namespace matmul {
using namespace Halide;
namespace {

/// A block of accumulators stays in registers while x's and w's panels pass by.
void schedule_vectors(Stages &s, const Knobs &k, const LoopLevel &at) {
    const int lanes = s.sizes.lanes;
    RVar step("step"), within("within");
    s.sums.compute_at(at).bound(s.n, 0, s.sizes.columns).bound(s.r, 0, s.sizes.rows);
    s.sums.vectorize(s.n, lanes).unroll(s.n).unroll(s.r);
    s.sums.update()
        .split(s.k, step, within, k.unroll)
        .reorder(s.n, s.r, within, step, s.of_chunk)
        .vectorize(s.n, lanes)
        .unroll(s.n)
        .unroll(s.r)
        .unroll(within);
}

/// The loops that passes/instructions/tile_products.h makes instructions of.
void schedule_tiles(Stages &s, const LoopLevel &at) {
    Var row(gyre::tile_row_loop), column(gyre::tile_column_loop), rows("tiles_down"), columns("tiles_across");
    const auto tiles = [&](Stage stage, const Var &r, const Var &n) {
        return stage.split(r, rows, row, gyre::tile_rows)
            .split(n, columns, column, gyre::tile_columns)
            .reorder(column, row, columns, rows)
            .unroll(columns)
            .unroll(rows);
    };
    for (Func f : {s.sums, s.block}) {
        f.compute_at(at).store_in(MemoryType::Stack).bound(s.n, 0, s.sizes.columns).bound(s.r, 0, s.sizes.rows);
        tiles(f, s.r, s.n);
    }
    RVar depth(gyre::tile_depth_loop);
    tiles(s.sums.update(), s.r, s.n).rename(s.k, depth).reorder(depth, column, row, columns, rows, s.of_chunk);
}

/// The loops that passes/instructions/bf16_matrices.h makes instructions of: one vector a pair of rows and a pair of columns.
void schedule_matrices(Stages &s, const LoopLevel &at) {
    const Var lane(gyre::matrix_lane_loop);
    const RVar depth(gyre::matrix_depth_loop);
    s.sums.compute_at(at)
        .store_in(MemoryType::Stack)
        .bound(s.lane, 0, gyre::matrix_lanes)
        .bound(s.p, 0, s.sizes.rows / gyre::matrix_rows)
        .bound(s.g, 0, s.sizes.columns / gyre::matrix_rows)
        .vectorize(s.lane)
        .unroll(s.p)
        .unroll(s.g);
    s.block.compute_at(at)
        .bound(s.n, 0, s.sizes.columns)
        .bound(s.r, 0, s.sizes.rows)
        .vectorize(s.n, s.sizes.lanes)
        .unroll(s.n)
        .unroll(s.r);
    s.sums.update()
        .rename(s.lane, lane)
        .rename(s.k, depth)
        .reorder(depth, lane, s.p, s.g, s.of_chunk)
        .unroll(s.p)
        .unroll(s.g);
}

} // namespace

// A task is a panel of w, which is packed once and stays in the cache while all panels of x pass by. These are packed once for all.
void schedule(Stages &s, const Knobs &k) {
    const Sizes &z = s.sizes;
    Var mo("mo"), no("no"), mi("mi"), ni("ni");
    s.out.compute_root()
        .split(s.m, mo, mi, z.rows, TailStrategy::GuardWithIf)
        .split(s.n, no, ni, z.columns, TailStrategy::GuardWithIf)
        .reorder(ni, mi, mo, no)
        .vectorize(ni, z.lanes, TailStrategy::GuardWithIf)
        .parallel(no);
    const LoopLevel at(s.out, mo);
    for (Func f : {s.sums, s.block}) f.bound_extent(s.mt, 1).bound_extent(s.nt, 1);
    if (z.engine == Engine::matrices) {
        for (Func f : {s.x_panel, s.w_panel})
            f.bound(s.f, 0, gyre::matrix_depth).bound(s.y, 0, gyre::matrix_rows).vectorize(s.f).unroll(s.y);
        s.x_panel.compute_root().bound(s.p, 0, z.rows / gyre::matrix_rows).parallel(s.mt);
        s.w_panel.compute_at(s.out, no).bound(s.g, 0, z.columns / gyre::matrix_rows);
        schedule_matrices(s, at);
        return;
    }
    const int numbers = z.engine == Engine::pairs ? chunk_numbers / 2 : chunk_numbers;
    s.x_panel.compute_root().bound(s.c, 0, numbers).bound(s.r, 0, z.rows).vectorize(s.c, numbers).parallel(s.mt);
    Var co("co"), ci("ci"), nb("nb");
    s.w_panel.compute_at(s.out, no)
        .bound(s.n, 0, z.columns)
        .split(s.c, co, ci, z.lanes)
        .split(s.n, nb, s.n, z.lanes)
        .reorder(s.n, ci, nb, co, s.nt)
        .vectorize(s.n)
        .unroll(ci);
    gyre::schedule_transpose(s.w_lanes, {s.w_panel, nb});
    if (z.engine == Engine::tiles)
        schedule_tiles(s, at);
    else
        schedule_vectors(s, k, at);
}

} // namespace matmul
