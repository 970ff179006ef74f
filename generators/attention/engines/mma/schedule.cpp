#include "mma.h"

#include "passes/cuda/swizzle.h"
#include "passes/cuda/warp_tiles.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int stored_at_once = 8; // numbers of a result, by a thread

} // namespace

// A block of threads is a tile of queries of one head: each warp has 16 rows, or 32, whose state and weights stay in its registers,
// and of 16 rows the queries, too. Keys and values of a block are in shared memory, the next ones on their way while it is computed with them. The
// results pass through shared memory, where a pair's features meet to be rotated back, and rows are stored whole.
void Mma::schedule() {
    const CudaSizes &sizes = s.sizes;
    const int copied = cuda::copied_bytes / sizes.bytes, row_padding = copied;
    const int panels = sizes.warpgroups ? sizes.head_dim / cuda::panel_columns : 1; // that rows of keys are cut into
    const auto features_of = [&](const Func &f) { // of rows of queries, keys and values
        const bool swizzled = f.name() == s.k_rows.name() || f.name() == s.v_rows.name() ||
                              (sizes.swizzled_queries && f.name() == s.q_rows.name());
        if (sizes.warpgroups && swizzled) return cuda::panel_columns;
        return f.name().rfind("out_rows", 0) == 0 ? sizes.v_head_dim / static_cast<int>(s.out_rows.size())
                                                  : sizes.head_dim;
    };
    const int warps = sizes.warps, row_tiles = sizes.query_rows / cuda::tile_rows / warps;
    Func out = s.out, lse = s.lse;
    Var tile("tile"), of_tile("of_tile"), run("run"), n("n"), turn("turn"), lane("lane"), warp("warp");
    out.split(s.x, tile, of_tile, sizes.query_rows, TailStrategy::GuardWithIf)
        .split(s.d, run, n, stored_at_once)
        .fuse(run, of_tile, turn)
        .split(turn, turn, lane, cuda::warp_lanes)
        .split(turn, turn, warp, warps)
        .reorder(n, turn, lane, warp, tile, s.h, s.z)
        .vectorize(n)
        .gpu_blocks(tile, s.h, s.z)
        .gpu_threads(lane, warp);
    lse.split(s.x, tile, of_tile, sizes.query_rows, TailStrategy::GuardWithIf)
        .split(of_tile, warp, lane, cuda::tile_rows * row_tiles)
        .reorder(lane, warp, tile, s.h, s.z)
        .gpu_blocks(tile, s.h, s.z)
        .gpu_threads(lane, warp);
    lse.compute_with(out, tile);

    // Every extent is known: what Halide cannot see is said here.
    std::vector<Func> of_keys{s.k_rows, s.v_rows};
    if (s.kv_rows.defined()) of_keys = {s.kv_rows};
    std::vector<Func> of_queries{s.q_staged};
    if (s.q_rotated.defined()) of_queries.push_back(s.q_rotated);
    std::vector<Func> all{s.tile.sequence, s.tile.rows, s.tile.seen, s.tile.common, s.q_rows,
                          s.scores,        s.maximum,   s.keep,      s.block_sum,   s.powers,
                          s.weights,       s.flawed,    s.weighted,  s.state,       s.lse_rows};
    for (const std::vector<Func> &more : {of_keys, of_queries, s.out_rows})
        all.insert(all.end(), more.begin(), more.end());
    if (s.row_tokens.defined()) all.push_back(s.row_tokens);
    for (Func f : all)
        for (const Var &v : f.args()) {
            const bool is_d = v.name() == s.d.name(), is_i = v.name() == s.i.name(), is_j = v.name() == s.j.name();
            const bool is_w = v.name() == s.w.name();
            f.bound_extent(v, is_d   ? features_of(f)
                              : is_i ? sizes.query_rows
                              : is_j ? sizes.key_block
                              : is_w ? (sizes.warpgroups ? panels : 2)
                                     : 1);
        }

    const LoopLevel block_of_threads(out, tile), block_of_keys(s.state, s.block);
    if (sizes.general) s.head.numbers.compute_at(block_of_threads).store_in(MemoryType::Register).bound_extent(s.h, 1);
    if (sizes.has_slopes()) {
        s.slopes.compute_at(block_of_threads).store_in(MemoryType::Register).bound_extent(s.i, sizes.query_rows);
        for (const Var &v : {s.t, s.h, s.z}) s.slopes.bound_extent(v, 1);
        cuda::warp_rows(s.slopes, s.i, {s.t, s.h, s.z}, row_tiles);
    }
    for (Func f : {s.tile.sequence, s.tile.rows, s.tile.seen, s.tile.common})
        f.compute_at(block_of_threads).store_in(MemoryType::Register);
    for (Func f : of_queries)
        f.compute_at(block_of_threads).store_in(MemoryType::GPUShared).bound_storage(s.d, sizes.head_dim + row_padding);
    cuda::fill_by_block(s.q_staged, s.i, copied, warps);
    if (s.row_tokens.defined()) // in the place that lse_rows take
        s.row_tokens.compute_at(block_of_threads)
            .store_in(MemoryType::GPUShared)
            .split(s.i, warp, lane, cuda::warp_lanes)
            .gpu_threads(lane, warp);
    if (s.q_rotated.defined()) cuda::fill_by_block(s.q_rotated, s.i, copied, warps);
    s.q_rows.compute_at(block_of_threads);
    if (sizes.swizzled_queries) {
        s.q_rows.store_in(MemoryType::GPUShared);
        cuda::fill_by_block(s.q_rows, s.i, copied, warps, false, {s.w});
    } else if (sizes.loads_queries) {
        s.q_rows.store_in(MemoryType::GPUShared).bound_storage(s.d, sizes.head_dim + row_padding);
        cuda::fill_by_block(s.q_rows, s.i, copied, warps);
    }
    Func rotated = s.q_rotated.defined() ? s.q_rotated : s.q_rows;
    s.query_angles.compute_at(rotated, s.run_of_pairs).store_in(MemoryType::Register);
    rotated.update()
        .allow_race_conditions() // no two features are stored in one place
        .split(s.i, turn, warp, warps)
        .reorder(s.second_of_pair, s.run_of_pairs, turn, s.pair_of_run, warp, s.t, s.h, s.z)
        .unroll(s.second_of_pair)
        .gpu_threads(s.pair_of_run, warp);
    s.state.compute_at(block_of_threads).store_in(MemoryType::Register);
    for (Func f : {s.scores, s.maximum, s.keep, s.block_sum, s.powers, s.weights, s.flawed, s.weighted})
        f.compute_at(block_of_keys).store_in(MemoryType::Register);
    for (Func f : s.out_rows) f.compute_at(block_of_threads).store_in(MemoryType::GPUShared);
    s.lse_rows.compute_at(block_of_threads).store_in(MemoryType::GPUShared);

    const std::vector<VarOrRVar> outer{s.t, s.h, s.z}, of_block{s.t, s.b, s.h, s.z};
    const auto with = [](const std::vector<VarOrRVar> &first, std::vector<VarOrRVar> rest) {
        rest.insert(rest.begin(), first.begin(), first.end());
        return rest;
    };
    if (!sizes.loads_queries && !sizes.swizzled_queries) {
        s.q_rows.store_in(MemoryType::Register);
        cuda::warp_tile(s.q_rows, s.i, s.d, outer, row_tiles);
    }
    cuda::warp_tile(s.state, s.i, s.d, outer, row_tiles);
    cuda::warp_tile(s.state.update(), s.i, s.d, with({s.block}, outer), row_tiles);
    for (const Func &f : s.out_rows) cuda::warp_tile(f, s.i, s.d, outer, row_tiles);
    cuda::warp_rows(s.lse_rows, s.i, outer, row_tiles);
    for (Func f : {s.scores, s.powers, s.weights}) cuda::warp_tile(f, s.i, s.j, of_block, row_tiles);
    cuda::warp_product(s.scores.update(0), s.i, s.j, s.feature_of_tile, s.feature_tile, of_block, row_tiles);
    int update = 1;
    for (const RVar &key : s.scored_keys) cuda::warp_tile(s.scores.update(update++), s.i, key, of_block, row_tiles);
    cuda::warp_tile(s.scores.update(update), s.i, s.masked_key, of_block, row_tiles);
    cuda::warp_rows(s.keep, s.i, of_block, row_tiles);
    for (Func f : {s.maximum, s.block_sum}) {
        cuda::warp_rows(f, s.i, of_block, row_tiles);
        cuda::warp_reduction(f.update(), s.i, s.column, s.columns, of_block, row_tiles);
    }
    cuda::warp_rows(s.maximum.update(1), s.i, of_block, row_tiles);
    cuda::warp_tile(s.weighted, s.i, s.d, of_block, row_tiles);
    cuda::warp_product(s.weighted.update(0), s.i, s.d, s.key_of_tile, s.key_tile, of_block, row_tiles);
    cuda::warp_product(s.weighted.update(1), s.i, s.d, s.seen_key, s.seen_tile, of_block, row_tiles);

    for (Func f : of_keys) {
        f.compute_at(block_of_keys)
            .store_in(MemoryType::GPUShared)
            .hoist_storage(s.state, s.t)
            .ring_buffer(k.stages)
            .bound_storage(s.d, features_of(f) + (sizes.warpgroups ? 0 : row_padding));
        const bool has_several = s.kv_rows.defined() || sizes.warpgroups;
        const int filling = sizes.copying_warps ? sizes.copying_warps : warps;
        cuda::fill_by_block(f, s.j, copied, filling, !sizes.shares_places(),
                            has_several ? std::vector<Var>{s.w} : std::vector<Var>());
    }
}

} // namespace gyre::attention
