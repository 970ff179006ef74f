/// Forms the rotation frequencies of one head from a model's configuration.
#pragma once

#include "options/rope_json.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gyre::cli {

/// The head_dim that the configuration says or implies.
std::optional<std::int64_t> implied_head_dim(const RopeConfig &config);

/// How many features of a head rotate. Throws UsageError if head_dim contradicts the configuration.
std::int64_t rotary_dim_of(const RopeConfig &config, std::int64_t head_dim);

struct Frequencies {
    std::vector<double> inv_freq; // [rotary_dim / 2] radians a token
    double attention_factor = 1;
};

/// length: tokens of the sequence, 0: not known. Throws UsageError that names --rope.
Frequencies frequencies_of(const RopeConfig &config, std::int64_t rotary_dim, std::int64_t head_dim,
                           std::int64_t length);

} // namespace gyre::cli
