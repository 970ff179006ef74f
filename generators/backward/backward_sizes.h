/// Sizes of a kernel of gradients: what its target decides, and what the runtime must know.
#pragma once
#include "../common/facts.h"
#include "backward_algorithm.h"

namespace gyre::backward {

/// `lanes`: of a vector. Kernels with a cap or of the general family say so before.
inline void fit_target(const Halide::Target &target, int lanes, Sizes *sizes) {
    // The forward pass of plain calls runs on tiles there.
    const bool after_tiles = target.has_feature(Halide::Target::AVX512_SapphireRapids);
    if (after_tiles && !sizes->capped && !sizes->general && sizes->features % 16 == 0) sizes->summed_apart = 16;
    // With both kinds of sums in one loop, an accumulator of the usual ones would not stay in 16 registers.
    sizes->guards_apart = target.has_feature(Halide::Target::AVX2) && lanes <= 8;
    if (sizes->guards_apart) sizes->edge_lanes = lanes;
}

inline Facts facts_of(const Sizes &sizes, bool gradients, bool pairs) {
    Facts facts = {{"gradients", gradients ? 1 : 0}, {"rows", sizes.rows},           {"keys", sizes.keys},
                   {"tile_size", sizes.tile},        {"key_lanes", sizes.key_lanes}, {"features", sizes.features}};
    if (pairs) facts.emplace_back("operands", "bf16");
    return facts;
}

} // namespace gyre::backward
