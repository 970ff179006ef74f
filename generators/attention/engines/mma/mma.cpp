#include "mma.h"

#include "common/window.h"
#include "passes/cuda/lower.h"
#include "passes/cuda/swizzle.h"

#include <algorithm>

namespace gyre::attention {

Mma::Mma(Facts wanted, const MmaKnobs &knobs) : facts(std::move(wanted)), k(knobs) { s.sizes = choose_sizes(); }

/// Few queries: a warp a block of threads, several of which share a multiprocessor. Plain kernels: 32 rows a warp, so that each load of
/// keys or values is of use to two products, and two blocks of threads a multiprocessor. Large heads, and f32: what registers, and 99 KB
/// of shared memory, hold.
CudaSizes Mma::choose_sizes() const {
    if (facts.warpgroups) return choose_sizes_of_warpgroups();
    const bool large = facts.head_dim > 128, small_block = large || in_f32();
    const int keys = facts.partial ? 32 : 64;
    const int row_tiles = k.row_tiles ? k.row_tiles : is_plain() && !small_block ? 2 : 1;
    // Pages have the blocks of plain kernels, and so their last bits.
    const bool like_two_tiles = row_tiles > 1 || facts.paged;
    const bool halved = small_block || (like_two_tiles && facts.head_dim > 64);
    const int block = k.key_block ? k.key_block : halved ? keys / 2 : keys;
    int warps = k.warps ? k.warps : facts.partial ? 1 : halved || row_tiles > 1 ? 4 : 8;
    // Whole warps share the copies of a block evenly.
    const int bytes = facts.dtype.bytes(),
              copied = cuda::copied_bytes / bytes * cuda::warp_lanes; // numbers, by a warp at once
    if (!k.warps)
        while (block * facts.head_dim / copied % warps != 0) warps--;
    CudaSizes sizes;
    sizes.head_dim = facts.head_dim;
    sizes.v_head_dim = facts.head_dim;
    sizes.query_rows = warps * row_tiles * cuda::tile_rows;
    sizes.warps = warps;
    sizes.loads_queries = row_tiles > 1; // registers have no room for them
    sizes.key_block = block;
    sizes.bytes = bytes;
    sizes.paged = facts.paged;
    sizes.general = facts.general;
    sizes.partial = facts.partial;
    return sizes;
}

/// Each warp has the 16 rows that a warpgroup's product gives it, in the same registers as its own products would. Queries stay in
/// registers unless warps only copy: then warpgroups share keys and values, a multiprocessor has one block of threads, and blocks of 128 keys take the
/// registers instead. Heads of 64 have registers for three warpgroups of such.
CudaSizes Mma::choose_sizes_of_warpgroups() const {
    CudaSizes sizes;
    sizes.head_dim = facts.head_dim;
    sizes.v_head_dim = facts.head_dim;
    const bool large = facts.head_dim > 2 * cuda::panel_columns;
    const bool small = facts.head_dim <= cuda::panel_columns;
    sizes.copying_warps = k.copying >= 0 ? k.copying : small ? 0 : cuda::warps_of_group;
    sizes.swizzled_queries = large || sizes.copying_warps > 0;
    const int groups = !sizes.swizzled_queries ? 1 : small ? 3 : 2;
    sizes.warps = k.warps ? k.warps : groups * cuda::warps_of_group;
    sizes.query_rows = sizes.warps * cuda::tile_rows;
    const bool halved = large || (facts.head_dim > cuda::panel_columns && !sizes.copying_warps);
    sizes.key_block = k.key_block ? k.key_block : halved ? 64 : 128;
    sizes.bytes = facts.dtype.bytes();
    sizes.warpgroups = true;
    _halide_user_assert(is_plain() && !in_f32() && k.row_tiles < 2 && sizes.warps % cuda::warps_of_group == 0 &&
                        facts.head_dim % cuda::panel_columns == 0 && facts.head_dim <= 4 * cuda::panel_columns &&
                        sizes.key_block % cuda::panel_columns == 0)
        << "warpgroups=true needs a plain kernel for 16 bits with heads of 64 to 256, key_block a multiple of 64, "
           "row_tiles at most 1, and warps a multiple of 4\n";
    return sizes;
}

void Mma::define(const CudaInputs &in, const Halide::Func &out, const Halide::Func &lse) {
    s = cuda_algorithm(in, s.sizes, out, lse, facts.dtype);
    causal = is_bounded(in.sequences.right);
}

void Mma::lower(const Lowering &kernel) const {
    cuda::Lowering lowering;
    lowering.device_code = facts.device_code;
    for (const char *of : {"rope", "value"})
        for (const char *what : {"_frequencies", "_axis"}) lowering.by_value[std::string(of) + what] = most_pairs();
    const bool shares = facts.head_dim <= 64 || (s.sizes.loads_queries && s.sizes.warps <= 4);
    lowering.blocks_at_once = shares && is_plain() && !in_f32() ? 2 : 0;
    lowering.warpgroups = facts.warpgroups;
    // On an H200 a third block of threads on a multiprocessor hides more than scores that are begun while the block before is weighed, for which
    // registers have no room then: head size 128, 4096 causal queries of 16 heads 239 us instead of 260, 16384 2442 instead of 2827.
    if (facts.warpgroups) lowering.blocks_at_once = s.sizes.warps > cuda::warps_of_group ? 1 : 3;
    if (k.blocks) lowering.blocks_at_once = k.blocks;
    if (s.sizes.copying_warps) {
        lowering.blocks_at_once = 1;
        lowering.copying.count = s.sizes.copying_warps;
        lowering.copying.readers = {{s.k_rows.name(), {s.scores.name(), s.scores.name()}},
                                    {s.v_rows.name(), {s.flawed.name(), s.weighted.name()}}};
    }
    lowering.aligned = {"k", "v"};
    if (s.sizes.shares_places())
        for (const Halide::Func &f : {s.k_rows, s.v_rows}) lowering.copies_of_row[f.name()] = s.sizes.copies_of_row();
    lowering.last_first = true; // causal tiles that see the most keys, of all heads
    lowering.across_first = causal;
    lowering.ranges["blocks"] = {s.tile.seen.name(), 0, 1};
    cuda::lower_to_cuda(kernel.generator, lowering);
}

Engine::Tiling Mma::tiling() const { return {s.sizes.query_rows, cuda::tile_rows, s.sizes.key_block}; }

Engine::Precision Mma::precision() const {
    Precision rounded;
    if (!in_f32()) rounded.operands = facts.dtype.is_bfloat() ? "bf16" : "f16";
    return rounded;
}

} // namespace gyre::attention
