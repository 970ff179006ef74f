/// What the runtime must know of a kernel of gradients.
#pragma once
#include "../common/facts.h"
#include "backward_algorithm.h"

namespace gyre::backward {

inline Facts facts_of(const Sizes &sizes, bool gradients, bool pairs) {
    Facts facts = {{"gradients", gradients ? 1 : 0}, {"rows", sizes.rows},           {"keys", sizes.keys},
                   {"tile_size", sizes.tile},        {"key_lanes", sizes.key_lanes}, {"features", sizes.features}};
    if (pairs) facts.emplace_back("operands", "bf16");
    return facts;
}

} // namespace gyre::backward
