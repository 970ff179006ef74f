/// Reads a model's rotary settings from its configuration's JSON. Three forms are understood:
///     {"rope_type": "yarn", "factor": 4, …}                             a rule; older files say "type"
///     {"rope_theta": 1e6, "rope_scaling": {…}, "head_dim": 128, …}      a whole config.json
///     {"rope_parameters": {"rope_type": …, "rope_theta": …}, …}         a newer one
/// Only what concerns rotation is read of a whole configuration. A key that concerns it and is not known is an error,
/// because leaving it out would silently change the model.
#pragma once

#include <gyre/gyre.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gyre::cli {

struct RopeConfig {
    std::string rope_type = "default";
    gyre_frequency_rule numbers = gyre_frequency_defaults(); // its pointers are not used
    std::vector<double> short_factor, long_factor;
    std::optional<double> partial_rotary_factor;
    std::optional<std::int64_t> rotary_dim;
    std::optional<std::int64_t> head_dim; // as the file says it
    std::optional<std::int64_t> hidden_size, num_attention_heads;
    bool interleaved = false;          // the file asks for interleaved pairs
    std::vector<double> mrope_section; // whole numbers: pairs that read each position axis
    bool mrope_interleaved = false;
};

/// text: inline JSON, or @ and the name of a file. Throws UsageError that names --rope.
RopeConfig read_rope(const std::string &text);

} // namespace gyre::cli
