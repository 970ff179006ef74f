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
    schedule_results();
    bound_extents();
    schedule_rows();
    schedule_queries();
    schedule_state();
    schedule_scores();
    for (const Func &f : of_keys()) schedule_keys(f);
}

LoopLevel Mma::block_of_threads() const { return LoopLevel(s.out, Var("tile")); }

std::vector<Func> Mma::of_keys() const {
    if (s.kv_rows.defined()) return {s.kv_rows};
    return {s.k_rows, s.v_rows};
}

std::vector<Func> Mma::of_queries() const {
    if (s.q_rotated.defined()) return {s.q_staged, s.q_rotated};
    return {s.q_staged};
}

void Mma::schedule_results() {
    Var tile("tile"), of_tile("of_tile"), run("run"), n("n"), turn("turn"), lane("lane"), warp("warp");
    Func out = s.out, lse = s.lse;
    out.split(s.x, tile, of_tile, s.sizes.query_rows, TailStrategy::GuardWithIf)
        .split(s.d, run, n, stored_at_once)
        .fuse(run, of_tile, turn)
        .split(turn, turn, lane, cuda::warp_lanes)
        .split(turn, turn, warp, s.sizes.warps)
        .reorder(n, turn, lane, warp, tile, s.h, s.z)
        .vectorize(n)
        .gpu_blocks(tile, s.h, s.z)
        .gpu_threads(lane, warp);
    lse.split(s.x, tile, of_tile, s.sizes.query_rows, TailStrategy::GuardWithIf)
        .split(of_tile, warp, lane, cuda::tile_rows * row_tiles())
        .reorder(lane, warp, tile, s.h, s.z)
        .gpu_blocks(tile, s.h, s.z)
        .gpu_threads(lane, warp);
    lse.compute_with(out, tile);
    for (Func f : s.out_rows) f.compute_at(block_of_threads()).store_in(MemoryType::GPUShared);
    s.lse_rows.compute_at(block_of_threads()).store_in(MemoryType::GPUShared);
}

// Features of a row of queries, keys, values or results, or those of them that stand in one panel.
int Mma::features_of(const Func &f) const {
    const bool is_swizzled = f.name() == s.k_rows.name() || f.name() == s.v_rows.name() ||
                             (s.sizes.swizzled_queries && f.name() == s.q_rows.name());
    if (s.sizes.warpgroups && is_swizzled) return cuda::panel_columns;
    if (f.name().rfind("out_rows", 0) == 0) return s.sizes.v_head_dim / static_cast<int>(s.out_rows.size());
    return s.sizes.head_dim;
}

// Every extent is known: what Halide cannot see is said here.
void Mma::bound_extents() {
    const int panels =
        s.sizes.warpgroups ? s.sizes.head_dim / cuda::panel_columns : 2; // of a row; without: keys and values
    std::vector<Func> all{s.tile.sequence, s.tile.rows, s.tile.seen, s.tile.common, s.q_rows,
                          s.scores,        s.maximum,   s.keep,      s.block_sum,   s.powers,
                          s.weights,       s.flawed,    s.weighted,  s.state,       s.lse_rows};
    for (const std::vector<Func> &more : {of_keys(), of_queries(), s.out_rows})
        all.insert(all.end(), more.begin(), more.end());
    if (s.row_tokens.defined()) all.push_back(s.row_tokens);
    const std::map<std::string, int> extents{
        {s.i.name(), s.sizes.query_rows}, {s.j.name(), s.sizes.key_block}, {s.w.name(), panels}};
    for (Func f : all)
        for (const Var &v : f.args()) {
            const auto known = extents.find(v.name());
            f.bound_extent(v, v.name() == s.d.name() ? features_of(f) : known != extents.end() ? known->second : 1);
        }
}

// What a block of threads knows of its rows.
void Mma::schedule_rows() {
    if (s.sizes.general)
        s.head.numbers.compute_at(block_of_threads()).store_in(MemoryType::Register).bound_extent(s.h, 1);
    if (s.sizes.has_slopes()) {
        s.slopes.compute_at(block_of_threads()).store_in(MemoryType::Register).bound_extent(s.i, s.sizes.query_rows);
        for (const Var &v : {s.t, s.h, s.z}) s.slopes.bound_extent(v, 1);
        cuda::warp_rows(s.slopes, s.i, {s.t, s.h, s.z}, row_tiles());
    }
    for (Func f : {s.tile.sequence, s.tile.rows, s.tile.seen, s.tile.common})
        f.compute_at(block_of_threads()).store_in(MemoryType::Register);
    Var lane("lane"), warp("warp");
    if (s.row_tokens.defined()) // in the place that lse_rows take
        s.row_tokens.compute_at(block_of_threads())
            .store_in(MemoryType::GPUShared)
            .split(s.i, warp, lane, cuda::warp_lanes)
            .gpu_threads(lane, warp);
}

void Mma::schedule_queries() {
    const CudaSizes &sizes = s.sizes;
    for (Func f : of_queries()) {
        f.compute_at(block_of_threads())
            .store_in(MemoryType::GPUShared)
            .bound_storage(s.d, sizes.head_dim + copied_elements());
        cuda::fill_by_block(f, s.i, copied_elements(), sizes.warps);
    }
    s.q_rows.compute_at(block_of_threads());
    if (sizes.swizzled_queries) {
        s.q_rows.store_in(MemoryType::GPUShared);
        cuda::fill_by_block(s.q_rows, s.i, copied_elements(), sizes.warps, false, {s.w});
    } else if (sizes.loads_queries) {
        s.q_rows.store_in(MemoryType::GPUShared).bound_storage(s.d, sizes.head_dim + copied_elements());
        cuda::fill_by_block(s.q_rows, s.i, copied_elements(), sizes.warps);
    } else {
        s.q_rows.store_in(MemoryType::Register);
        cuda::warp_tile(s.q_rows, s.i, s.d, {s.t, s.h, s.z}, row_tiles());
    }
    Var turn("turn"), warp("warp");
    Func rotated = s.q_rotated.defined() ? s.q_rotated : s.q_rows;
    s.query_angles.compute_at(rotated, s.run_of_pairs).store_in(MemoryType::Register);
    rotated.update()
        .allow_race_conditions() // no two features are stored in one place
        .split(s.i, turn, warp, sizes.warps)
        .reorder(s.second_of_pair, s.run_of_pairs, turn, s.pair_of_run, warp, s.t, s.h, s.z)
        .unroll(s.second_of_pair)
        .gpu_threads(s.pair_of_run, warp);
}

void Mma::schedule_keys(Func f) {
    const CudaSizes &sizes = s.sizes;
    f.compute_at(s.state, s.block)
        .store_in(MemoryType::GPUShared)
        .hoist_storage(s.state, s.t)
        .ring_buffer(k.stages)
        .bound_storage(s.d, features_of(f) + (sizes.warpgroups ? 0 : copied_elements()));
    const bool has_several = s.kv_rows.defined() || sizes.warpgroups;
    const int filling = sizes.copying_warps ? sizes.copying_warps : sizes.warps;
    cuda::fill_by_block(f, s.j, copied_elements(), filling, !sizes.shares_places(),
                        has_several ? std::vector<Var>{s.w} : std::vector<Var>());
}

} // namespace gyre::attention
