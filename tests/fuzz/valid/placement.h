/// Random strides.
#pragma once
#include "../byte_reader.h"
#include "support/tensor.h"

#include <vector>

namespace gyre::fuzz {

struct PlacementRules {
    bool last_contiguous = true;
    bool may_repeat = false; // strides of 0
    bool may_go_back = true; // negative strides
};

/// Dimensions in any order in memory, with gaps, backwards or repeated as far as the rules allow; a stride of a dimension of one
/// element is nonsense now and then.
test::Placement random_placement(ByteReader &r, const std::vector<int64_t> &shape, const PlacementRules &rules);

} // namespace gyre::fuzz
