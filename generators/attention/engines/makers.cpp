#include "makers.h"

#include "passes/memory/masked_tails.h"

#include <numeric>

namespace gyre::attention {
using namespace Halide;

Sizes common_sizes(const Wanted &w) {
    const Knobs &k = w.knobs;
    Sizes z;
    z.head_dim = z.v_head_dim = w.head_dim;
    z.padded = w.padded;
    z.lanes = k.fold > 0 ? k.lanes / k.fold : k.lanes;
    const int masked_bits = least_masked_bits(w.target);
    if (masked_bits > 0 && w.dtype.bits() >= masked_bits) z.row_ends = TailStrategy::Predicate;
    z.row_tile = k.row_vectors * k.row_tiles * z.lanes;
    z.task_tiles = k.task_tiles;
    z.key_block = k.key_block;
    z.feature_chunk = k.feature_chunk;
    z.feature_step = z.value_step = std::lcm(std::lcm(k.feature_chunk, k.lanes), k.key_vector);
    return z;
}

Sizes sizes_of_rows(const Wanted &w) {
    Sizes z = common_sizes(w);
    z.value_step = w.knobs.feature_chunk;
    return z;
}

bool ends_at_last_rows(const Wanted &w) { return w.target.has_feature(Target::AVX2) && !w.autoscheduled; }

} // namespace gyre::attention
