#include "mma.h"

#include "passes/cuda/warp_tiles.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int warp_lanes = 32;
/// That one copy takes; and what rows are padded by, so that those of a tile begin in different banks.
constexpr int copied_bytes = 16;
constexpr int stored_at_once = 8; // numbers of a result, by a thread

/// Threads of all warps fill a tile of rows in shared memory, neighbours with neighbours of a row.
void fill_by_block(Func f, const Var &row, int at_once, int warps, bool unrolled = false) {
    Var run("run"), n("n"), lane("lane"), warp("warp"), turn("turn"), together("together");
    const std::vector<Var> args = f.args();
    std::vector<VarOrRVar> order{n, turn, lane, warp};
    for (const Var &v : args)
        if (v.name() != args[0].name() && v.name() != row.name()) order.emplace_back(v);
    f.split(args[0], run, n, at_once)
        .fuse(run, row, together)
        .split(together, together, lane, warp_lanes)
        .split(together, turn, warp, warps)
        .reorder(order)
        .gpu_threads(lane, warp);
    if (at_once > 1) f.vectorize(n);
    if (unrolled) f.unroll(turn);
}

} // namespace

// A block of threads is a tile of queries of one head: each warp has 16 rows, whose queries, state and weights stay in its
// registers. Keys and values of a block are in shared memory, the next ones on their way while it is computed with them. The
// results pass through shared memory, where a pair's features meet to be rotated back, and rows are stored whole.
void Mma::schedule() {
    const CudaSizes &sizes = s.sizes;
    const int copied = copied_bytes / sizes.bytes, row_padding = copied;
    const int warps = sizes.query_rows / cuda::tile_rows;
    Func out = s.out, lse = s.lse;
    Var tile("tile"), of_tile("of_tile"), run("run"), n("n"), turn("turn"), lane("lane"), warp("warp");
    out.split(s.x, tile, of_tile, sizes.query_rows, TailStrategy::GuardWithIf)
        .split(s.d, run, n, stored_at_once)
        .fuse(run, of_tile, turn)
        .split(turn, turn, lane, warp_lanes)
        .split(turn, turn, warp, warps)
        .reorder(n, turn, lane, warp, tile, s.h, s.z)
        .vectorize(n)
        .gpu_blocks(tile, s.h, s.z)
        .gpu_threads(lane, warp);
    lse.split(s.x, tile, of_tile, sizes.query_rows, TailStrategy::GuardWithIf)
        .split(of_tile, warp, lane, cuda::tile_rows)
        .reorder(lane, warp, tile, s.h, s.z)
        .gpu_blocks(tile, s.h, s.z)
        .gpu_threads(lane, warp);
    lse.compute_with(out, tile);

    // Every extent is known: what Halide cannot see is said here.
    for (Func f : {s.tile.sequence, s.tile.rows, s.tile.seen, s.tile.common, s.q_staged, s.q_rotated, s.q_rows,
                   s.k_rows,        s.v_rows,    s.scores,    s.maximum,     s.keep,     s.block_sum, s.powers,
                   s.weights,       s.flawed,    s.weighted,  s.state,       s.out_rows, s.lse_rows})
        for (const Var &v : f.args()) {
            const bool is_d = v.name() == s.d.name(), is_i = v.name() == s.i.name(), is_j = v.name() == s.j.name();
            const bool of_values = f.name() != s.q_staged.name() && f.name() != s.q_rotated.name() &&
                                   f.name() != s.q_rows.name() && f.name() != s.k_rows.name();
            f.bound_extent(v, is_d   ? of_values ? sizes.v_head_dim : sizes.head_dim
                              : is_i ? sizes.query_rows
                              : is_j ? sizes.key_block
                                     : 1);
        }

    const LoopLevel block_of_threads(out, tile), block_of_keys(s.state, s.block);
    if (sizes.general) s.head.numbers.compute_at(block_of_threads).store_in(MemoryType::Register).bound_extent(s.h, 1);
    if (sizes.has_slopes()) {
        s.slopes.compute_at(block_of_threads).store_in(MemoryType::Register).bound_extent(s.i, sizes.query_rows);
        for (const Var &v : {s.t, s.h, s.z}) s.slopes.bound_extent(v, 1);
        cuda::warp_rows(s.slopes, s.i, {s.t, s.h, s.z});
    }
    for (Func f : {s.tile.sequence, s.tile.rows, s.tile.seen, s.tile.common})
        f.compute_at(block_of_threads).store_in(MemoryType::Register);
    for (Func f : {s.q_staged, s.q_rotated})
        f.compute_at(block_of_threads).store_in(MemoryType::GPUShared).bound_storage(s.d, sizes.head_dim + row_padding);
    fill_by_block(s.q_staged, s.i, copied, warps);
    fill_by_block(s.q_rotated, s.i, 1, warps);
    s.q_rows.compute_at(block_of_threads).store_in(MemoryType::Register);
    s.state.compute_at(block_of_threads).store_in(MemoryType::Register);
    for (Func f : {s.scores, s.maximum, s.keep, s.block_sum, s.powers, s.weights, s.flawed, s.weighted})
        f.compute_at(block_of_keys).store_in(MemoryType::Register);
    for (Func f : {s.out_rows, s.lse_rows}) f.compute_at(block_of_threads).store_in(MemoryType::GPUShared);

    const std::vector<VarOrRVar> outer{s.t, s.h, s.z}, of_block{s.t, s.b, s.h, s.z};
    const auto with = [](const std::vector<VarOrRVar> &first, std::vector<VarOrRVar> rest) {
        rest.insert(rest.begin(), first.begin(), first.end());
        return rest;
    };
    cuda::warp_tile(s.q_rows, s.i, s.d, outer);
    cuda::warp_tile(s.state, s.i, s.d, outer);
    cuda::warp_tile(s.state.update(), s.i, s.d, with({s.block}, outer));
    cuda::warp_tile(s.out_rows, s.i, s.d, outer);
    cuda::warp_rows(s.lse_rows, s.i, outer);
    for (Func f : {s.scores, s.powers, s.weights}) cuda::warp_tile(f, s.i, s.j, of_block);
    cuda::warp_product(s.scores.update(0), s.i, s.j, s.feature_of_tile, s.feature_tile, of_block);
    int update = 1;
    for (const RVar &key : s.scored_keys) cuda::warp_tile(s.scores.update(update++), s.i, key, of_block);
    cuda::warp_tile(s.scores.update(update), s.i, s.masked_key, of_block);
    cuda::warp_rows(s.keep, s.i, of_block);
    for (Func f : {s.maximum, s.block_sum}) {
        cuda::warp_rows(f, s.i, of_block);
        cuda::warp_reduction(f.update(), s.i, s.column, s.columns, of_block);
    }
    cuda::warp_tile(s.weighted, s.i, s.d, of_block);
    cuda::warp_product(s.weighted.update(0), s.i, s.d, s.key_of_tile, s.key_tile, of_block);
    cuda::warp_product(s.weighted.update(1), s.i, s.d, s.seen_key, s.seen_tile, of_block);

    for (Func f : {s.k_rows, s.v_rows}) {
        const int features = f.name() == s.k_rows.name() ? sizes.head_dim : sizes.v_head_dim;
        f.compute_at(block_of_keys)
            .store_in(MemoryType::GPUShared)
            .hoist_storage(s.state, s.t)
            .ring_buffer(k.stages)
            .bound_storage(s.d, features + row_padding);
        fill_by_block(f, s.j, sizes.as_stored ? copied : 1, warps, sizes.as_stored);
    }
}

} // namespace gyre::attention
