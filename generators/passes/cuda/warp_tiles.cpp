#include "warp_tiles.h"

#include <algorithm>

namespace gyre::cuda {
using namespace Halide;
namespace {

const Var warp("warp"), lane("lane");

/// Warps along the rows, all of a warp's by its first lane; `inner`: what that goes through.
void give_to_warps(Stage &stage, const Var &row, std::vector<VarOrRVar> inner, const std::vector<VarOrRVar> &outer,
                   int row_tiles) {
    const Var m(row_loop), tiles(row_tiles_loop);
    for (VarOrRVar &v : inner)
        if (v.name() == row.name()) v = m;
    stage.split(row, warp, m, tile_rows * row_tiles).split(warp, warp, lane, 1);
    if (row_tiles > 1) {
        stage.split(m, tiles, m, tile_rows);
        inner.emplace_back(tiles);
    }
    inner.insert(inner.end(), {lane, warp});
    inner.insert(inner.end(), outer.begin(), outer.end());
    stage.reorder(inner).gpu_threads(lane, warp);
}

} // namespace

void warp_tile(Stage stage, const Var &row, const VarOrRVar &column, const std::vector<VarOrRVar> &outer,
               int row_tiles) {
    if (column.is_rvar) {
        const RVar n(column_loop), tiles("tiles");
        stage.split(column.rvar, tiles, n, tile_columns);
        give_to_warps(stage, row, {n, row, tiles}, outer, row_tiles);
    } else {
        const Var n(column_loop), tiles("tiles");
        stage.split(column.var, tiles, n, tile_columns);
        give_to_warps(stage, row, {n, row, tiles}, outer, row_tiles);
    }
}

void warp_rows(Stage stage, const Var &row, const std::vector<VarOrRVar> &outer, int row_tiles) {
    give_to_warps(stage, row, {row}, outer, row_tiles);
}

void warp_reduction(Stage update, const Var &row, const RVar &column, const RVar &columns,
                    const std::vector<VarOrRVar> &outer, int row_tiles) {
    const RVar n(column_loop);
    update.rename(column, n);
    give_to_warps(update, row, {n, row, columns}, outer, row_tiles);
}

void warp_product(Stage update, const Var &row, const Var &column, const RVar &depth, const RVar &depths,
                  const std::vector<VarOrRVar> &outer, int row_tiles) {
    const Var n(column_loop), tiles("tiles");
    const RVar k(depth_loop);
    update.rename(depth, k).split(column, tiles, n, tile_columns);
    give_to_warps(update, row, {k, n, row, tiles, depths}, outer, row_tiles);
}

void fill_by_block(Func f, const Var &row, int at_once, int warps, bool unrolled, const std::vector<Var> &each) {
    Var run("run"), n("n"), turn("turn"), together("together");
    const std::vector<Var> args = f.args();
    std::vector<VarOrRVar> order{n, turn}, outer;
    for (const Var &v : args) {
        if (v.name() == args[0].name() || v.name() == row.name()) continue;
        const bool is_own =
            std::any_of(each.begin(), each.end(), [&](const Var &own) { return own.name() == v.name(); });
        (is_own ? order : outer).emplace_back(v);
    }
    order.insert(order.end(), {lane, warp});
    order.insert(order.end(), outer.begin(), outer.end());
    f.split(args[0], run, n, at_once)
        .fuse(run, row, together)
        .split(together, together, lane, warp_lanes)
        .split(together, turn, warp, warps)
        .reorder(order)
        .gpu_threads(lane, warp);
    if (at_once > 1) f.vectorize(n);
    if (!unrolled) return;
    f.unroll(turn);
    for (const Var &v : each) f.unroll(v);
}

} // namespace gyre::cuda
