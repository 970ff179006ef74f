/// What lies where no call may look: between elements, in padding, behind masks.
#pragma once
#include "support/tensor.h"

#include <cstdint>
#include <vector>

namespace gyre::fuzz {

enum class Garbage { nan, infinity, minus_infinity, large, minus_large, subnormal, random_bits };
constexpr uint32_t kinds_of_garbage = 7;

/// Overwrites the elements in `memory` where `counts` is 0. Both have an entry an element.
void spoil(std::vector<unsigned char> *memory, gyre_dtype dtype, const std::vector<unsigned char> &counts,
           Garbage garbage);

} // namespace gyre::fuzz
