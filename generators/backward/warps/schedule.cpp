#include "schedule.h"

#include "passes/cuda/warp_tiles.h"

namespace gyre::gradients {
using namespace Halide;
namespace {

constexpr int stored_at_once = 8; // numbers of a result, by a thread

std::vector<Func> defined(const std::vector<Func> &funcs) {
    std::vector<Func> all;
    for (const Func &f : funcs)
        if (f.defined()) all.push_back(f);
    return all;
}

/// Every extent is known: what Halide cannot see is said here.
void bound_extents(Stages &s) {
    const Sizes &sizes = s.sizes;
    for (Func f : defined({s.tile.sequence, s.tile.lengths, s.tile.turns, s.tile.common, s.staged,  s.partner_staged,
                           s.rows,          s.partner_rows, s.row_power,  s.row_delta,   s.columns, s.partner_columns,
                           s.scores,        s.prob_grads,   s.formed,     s.weights,     s.flawed,  s.summed,
                           s.state,         s.out_rows}))
        for (const Var &v : f.args())
            f.bound_extent(v, v.name() == s.d.name()   ? sizes.head_dim
                              : v.name() == s.i.name() ? sizes.rows
                              : v.name() == s.j.name() ? sizes.block
                                                       : 1);
}

void schedule_output(Stages &s) {
    const int warps = s.sizes.rows / cuda::tile_rows;
    Var tile("tile"), of_tile("of_tile"), run("run"), n("n"), turn("turn"), lane("lane"), warp("warp");
    s.out.split(s.x, tile, of_tile, s.sizes.rows, TailStrategy::GuardWithIf)
        .split(s.d, run, n, stored_at_once)
        .fuse(run, of_tile, turn)
        .split(turn, turn, lane, cuda::warp_lanes)
        .split(turn, turn, warp, warps)
        .reorder(n, turn, lane, warp, tile, s.h, s.z)
        .vectorize(n)
        .gpu_blocks(tile, s.h, s.z)
        .gpu_threads(lane, warp);
    s.tile_loop = tile;
}

} // namespace

Sizes choose_sizes(Of of, bool general, int head_dim, const Type &type, const Knobs &knobs) {
    const bool large = head_dim > 64, in_f32 = type.bytes() == 4;
    Sizes sizes;
    sizes.of = of;
    sizes.general = general;
    sizes.head_dim = head_dim;
    sizes.bytes = type.bytes();
    sizes.block = knobs.block ? knobs.block : 64 / (large ? 2 : 1) / (in_f32 ? 2 : 1);
    int warps = knobs.warps ? knobs.warps : large && in_f32 ? 2 : 4;
    // Whole warps share the copies of a block evenly.
    const int copied = cuda::copied_bytes / sizes.bytes * cuda::warp_lanes;
    if (!knobs.warps)
        while (sizes.block * head_dim / copied % warps != 0) warps--;
    sizes.rows = warps * cuda::tile_rows;
    return sizes;
}

int blocks_of_threads(bool general, const Type &type, const Knobs &knobs) {
    constexpr int shipped = 3;
    if (knobs.blocks) return knobs.blocks;
    return general || type.bytes() == 4 ? 0 : shipped;
}

// A block of threads is a tile of rows of one head: each warp has 16 of them, which stay in its registers with what they add up to.
// Columns of a block are in shared memory, the next ones on their way while it is computed with them.
void schedule(Stages &s, const Knobs &k) {
    const Sizes &sizes = s.sizes;
    const int copied = cuda::copied_bytes / sizes.bytes, warps = sizes.rows / cuda::tile_rows;
    schedule_output(s);
    bound_extents(s);
    const LoopLevel block_of_threads(s.out, s.tile_loop), turn(s.state, s.block);
    for (Func f : {s.tile.sequence, s.tile.lengths, s.tile.turns, s.tile.common})
        f.compute_at(block_of_threads).store_in(MemoryType::Register);
    const std::vector<VarOrRVar> outer{s.t, s.h, s.z}, of_turn{s.t, s.b, s.h, s.z};
    const std::vector<VarOrRVar> of_block{s.block, s.t, s.h, s.z};
    for (Func f : defined({s.row_power, s.row_delta})) {
        f.compute_at(block_of_threads).store_in(MemoryType::Register);
        cuda::warp_rows(f, s.i, outer);
    }
    for (Func f : defined({s.staged, s.partner_staged})) {
        f.compute_at(block_of_threads).store_in(MemoryType::GPUShared).bound_storage(s.d, sizes.head_dim + copied);
        cuda::fill_by_block(f, s.i, copied, warps, false);
    }
    for (Func f : defined({s.rows, s.partner_rows})) {
        f.compute_at(block_of_threads).store_in(MemoryType::Register);
        cuda::warp_tile(f, s.i, s.d, outer);
    }
    s.state.compute_at(block_of_threads).store_in(MemoryType::Register);
    s.out_rows.compute_at(block_of_threads).store_in(MemoryType::GPUShared);
    cuda::warp_tile(s.state, s.i, s.d, outer);
    cuda::warp_tile(s.state.update(), s.i, s.d, of_block);
    cuda::warp_tile(s.out_rows, s.i, s.d, outer);

    for (Func f : defined({s.scores, s.prob_grads, s.formed, s.weights, s.flawed, s.summed}))
        f.compute_at(turn).store_in(MemoryType::Register);
    for (Func f : defined({s.scores, s.prob_grads, s.formed, s.weights})) cuda::warp_tile(f, s.i, s.j, of_turn);
    cuda::warp_product(s.scores.update(), s.i, s.j, s.score_feature, s.score_tile, of_turn);
    if (s.prob_grads.defined())
        cuda::warp_product(s.prob_grads.update(), s.i, s.j, s.prob_feature, s.prob_tile, of_turn);
    cuda::warp_tile(s.formed.update(), s.i, s.masked_column, of_turn);
    cuda::warp_tile(s.summed, s.i, s.d, of_turn);
    cuda::warp_product(s.summed.update(0), s.i, s.d, s.column, s.column_tile, of_turn);
    cuda::warp_product(s.summed.update(1), s.i, s.d, s.seen_column, s.seen_tile, of_turn);
    for (Func f : {s.columns, s.partner_columns}) {
        f.compute_at(turn)
            .store_in(MemoryType::GPUShared)
            .hoist_storage(s.state, s.t)
            .ring_buffer(k.stages)
            .bound_storage(s.d, sizes.head_dim + copied);
        cuda::fill_by_block(f, s.j, copied, warps, true);
    }
    // A number by each thread, the last ones more than once.
    for (Func f : defined({s.column_lse, s.column_delta})) {
        Var rest("rest"), lane("lane"), of_turn("of_turn"), warp("warp");
        const int threads = warps * cuda::warp_lanes;
        f.compute_at(turn)
            .store_in(MemoryType::GPUShared)
            .hoist_storage(s.state, s.t)
            .ring_buffer(k.stages)
            .bound_extent(s.j, (sizes.block + threads - 1) / threads * threads)
            .split(s.j, rest, lane, cuda::warp_lanes)
            .split(rest, of_turn, warp, warps)
            .reorder(of_turn, lane, warp, s.b, s.t, s.h, s.z)
            .unroll(of_turn)
            .gpu_threads(lane, warp);
        for (const Var &v : {s.b, s.t, s.h, s.z}) f.bound_extent(v, 1);
    }
}

} // namespace gyre::gradients
