#include "mma.h"

#include "passes/cuda/warp_tiles.h"

namespace gyre::attention {
using namespace Halide;

// What a warp holds in its registers from block to block, and what it stores at the end.
void Mma::schedule_state() {
    const std::vector<VarOrRVar> outer{s.t, s.h, s.z}, of_block{s.block, s.t, s.h, s.z};
    s.state.compute_at(block_of_threads()).store_in(MemoryType::Register);
    cuda::warp_tile(s.state, s.i, s.d, outer, row_tiles());
    cuda::warp_tile(s.state.update(), s.i, s.d, of_block, row_tiles());
    for (const Func &f : s.out_rows) cuda::warp_tile(f, s.i, s.d, outer, row_tiles());
    cuda::warp_rows(s.lse_rows, s.i, outer, row_tiles());
}

// What a warp forms for one block of keys.
void Mma::schedule_scores() {
    const std::vector<VarOrRVar> outer{s.t, s.b, s.h, s.z};
    for (Func f : {s.scores, s.maximum, s.keep, s.block_sum, s.powers, s.weights, s.flawed, s.weighted})
        f.compute_at(s.state, s.block).store_in(MemoryType::Register);
    for (Func f : {s.scores, s.powers, s.weights}) cuda::warp_tile(f, s.i, s.j, outer, row_tiles());
    cuda::warp_product(s.scores.update(0), s.i, s.j, s.feature_of_tile, s.feature_tile, outer, row_tiles());
    int update = 1;
    for (const RVar &key : s.scored_keys) cuda::warp_tile(s.scores.update(update++), s.i, key, outer, row_tiles());
    cuda::warp_tile(s.scores.update(update), s.i, s.masked_key, outer, row_tiles());
    cuda::warp_rows(s.keep, s.i, outer, row_tiles());
    for (Func f : {s.maximum, s.block_sum}) {
        cuda::warp_rows(f, s.i, outer, row_tiles());
        cuda::warp_reduction(f.update(), s.i, s.column, s.columns, outer, row_tiles());
    }
    cuda::warp_rows(s.maximum.update(1), s.i, outer, row_tiles());
    cuda::warp_tile(s.weighted, s.i, s.d, outer, row_tiles());
    cuda::warp_product(s.weighted.update(0), s.i, s.d, s.key_of_tile, s.key_tile, outer, row_tiles());
    cuda::warp_product(s.weighted.update(1), s.i, s.d, s.seen_key, s.seen_tile, outer, row_tiles());
}

} // namespace gyre::attention
