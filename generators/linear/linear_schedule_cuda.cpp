#include "linear_cuda.h"

namespace gyre::linear {
using namespace Halide;
namespace {

constexpr int tile = 4, tiles = chunk / tile; // numbers of a thread along each side; threads
constexpr int lanes = 32, rows_of_sums = 4;

/// What a block of threads asks about its sequence, one thread finds out.
void find_slot_at(Slot &slot, const Func &out, const Var &block) {
    for (Func f : {slot.sequence, slot.place}) f.compute_at(out, block).store_in(MemoryType::GPUShared);
}

/// Sums of a thread's tile, in registers.
void add_up(Func sum, const Func &of, const Var &thread, const Var &x, const Var &y,
            const std::vector<Turns> &updates) {
    sum.compute_at(of, thread)
        .store_in(MemoryType::Register)
        .bound_extent(x, tile)
        .bound_extent(y, tile)
        .unroll(x)
        .unroll(y);
    int n = 0;
    for (const Turns &of_update : updates)
        sum.update(n++)
            .reorder(x, y, of_update.term, of_update.turn)
            .never_partition(of_update.turn)
            .unroll(x)
            .unroll(y)
            .unroll(of_update.term);
}

} // namespace

// A block of threads is a chunk of a head. A thread adds up a tile of the product of keys and values.
void schedule(ChunkStages &s) {
    Var n("n"), m("m"), e_run("e_run"), d_run("d_run"), e_tile("e_tile"), d_tile("d_tile"), thread("thread");
    s.kv.split(s.e, e_run, n, tile, TailStrategy::GuardWithIf)
        .split(e_run, e_tile, e_run, tiles, TailStrategy::GuardWithIf)
        .split(s.d, d_run, m, tile, TailStrategy::GuardWithIf)
        .split(d_run, d_tile, d_run, tiles, TailStrategy::GuardWithIf)
        .reorder(n, m, e_run, d_run, e_tile, d_tile, s.t, s.h, s.z)
        .fuse(e_run, d_run, thread)
        .never_partition(n, m, thread, e_tile, d_tile)
        .vectorize(n)
        .unroll(m)
        .gpu_blocks(s.t, s.h, s.z)
        .gpu_threads(thread);
    add_up(s.product, s.kv, thread, s.e, s.d, {s.token});
    find_slot_at(s.of_products, s.kv, s.t);
    Var feature("feature"), features("features");
    s.k_sum.split(s.d, features, feature, chunk, TailStrategy::GuardWithIf)
        .reorder(feature, features, s.t, s.h, s.z)
        .gpu_blocks(s.t, s.h, s.z)
        .gpu_threads(feature);
    s.total.compute_at(s.k_sum, feature).store_in(MemoryType::Register);
    find_slot_at(s.of_sums, s.k_sum, s.t);
}

// A thread adds up one number, chunk after chunk.
void schedule(SumStages &s) {
    Var e_block("e_block"), d_block("d_block"), lane("lane"), row("row"), block("block");
    RVar entry("entry");
    s.sums.update()
        .allow_race_conditions()
        .split(s.e, e_block, lane, lanes, TailStrategy::GuardWithIf)
        .split(s.d, d_block, row, rows_of_sums, TailStrategy::GuardWithIf)
        .fuse(s.sequence, s.entry, entry)
        .reorder(s.slot, lane, row, e_block, d_block, s.h, entry)
        .fuse(e_block, d_block, block)
        .never_partition(s.slot)
        .gpu_blocks(block, s.h, entry)
        .gpu_threads(lane, row);
}

// A block of threads is a chunk of a head. Each thread has a tile of the scores, which meet in shared memory, and then one of the results.
void schedule(RowStages &s) {
    Var n("n"), m("m"), run("run"), e_tile("e_tile"), rows("rows"), thread("thread");
    s.out.split(s.i, rows, m, tile)
        .split(s.e, run, n, tile, TailStrategy::GuardWithIf)
        .split(run, e_tile, run, tiles, TailStrategy::GuardWithIf)
        .reorder(n, m, run, rows, e_tile, s.t, s.h, s.z)
        .fuse(run, rows, thread)
        .never_partition(n, m, thread, e_tile)
        .vectorize(n)
        .unroll(m)
        .gpu_blocks(s.t, s.h, s.z)
        .gpu_threads(thread);
    add_up(s.sum, s.out, thread, s.e, s.i, s.summed);
    Var j_run("j_run"), i_run("i_run"), own("own");
    s.weights.compute_at(s.out, s.t)
        .store_in(MemoryType::GPUShared)
        .bound_extent(s.i, chunk)
        .bound_extent(s.j, chunk)
        .split(s.j, j_run, n, tile)
        .split(s.i, i_run, m, tile)
        .reorder(n, m, j_run, i_run)
        .fuse(j_run, i_run, own)
        .vectorize(n)
        .unroll(m)
        .gpu_threads(own);
    add_up(s.scores, s.weights, own, s.j, s.i, s.score_features);
    add_up(s.unrotated, s.weights, own, s.j, s.i, s.share_features);
    s.parts.compute_at(s.out, s.t)
        .store_in(MemoryType::GPUShared)
        .bound_extent(s.i, chunk)
        .bound_extent(s.l, parts_of_denominator);
    Var both("both");
    s.parts.fuse(s.l, s.i, both).gpu_threads(both);
    s.parts.update(0).reorder(s.own_key, s.l, s.i).fuse(s.l, s.i, both).gpu_threads(both);
    s.parts.update(1).reorder(s.share, s.l, s.i).fuse(s.l, s.i, both).gpu_threads(both);
    find_slot_at(s.slot, s.out, s.t);
    s.states.compute_at(s.out, s.t).store_in(MemoryType::GPUShared);
}

} // namespace gyre::linear
