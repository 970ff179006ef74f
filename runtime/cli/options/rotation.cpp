#include "options/rotation.h"

#include "console/errors.h"
#include "options/option_values.h"

#include <algorithm>

namespace gyre::cli {

void add_rotation(const Command &command, RotationOptions &options) {
    add_real_number(command, "--theta", options.theta, 0, true, "base of the frequencies, default 10000");
    add_text(command, "--rope", options.rope, "JSON|@FILE", "a model configuration, or the rotary part of one");
    command.add_flag("--interleaved", options.interleaved, "pairs (2i, 2i+1); default: halves (i, i + rotary_dim/2)");
}

std::optional<RopeConfig> rope_config(const RotationOptions &options) {
    refuse_together({{"--theta", options.theta.has_value()}, {"--rope", !options.rope.empty()}});
    if (options.rope.empty()) return std::nullopt;
    RopeConfig config = read_rope(options.rope);
    if (config.interleaved && !options.interleaved) {
        refuse("--rope", "\"rope_interleave\" is true", "--interleaved beside it, or a configuration without it");
    }
    return config;
}

Rotation::Rotation(const RotationOptions &options, const std::optional<RopeConfig> &config, std::int64_t rotary_dim,
                   std::int64_t head_dim, std::int64_t length) {
    rope.pairing = options.interleaved ? GYRE_INTERLEAVED : GYRE_HALF;
    rope.rotary_dim = std::int32_t(rotary_dim);
    if (options.theta) rope.theta = *options.theta;
    if (!config) return;
    frequencies_ = frequencies_of(*config, rotary_dim, head_dim, length);
    rope.inv_freq = frequencies_.inv_freq.data();
    rope.attention_factor = frequencies_.attention_factor;
}

void use_position_axes(gyre_rope &rope, const RopeConfig &config) {
    const std::size_t axes = config.mrope_section.size();
    if (axes > GYRE_MAX_AXES) {
        refuse("--rope", "\"mrope_section\" has " + std::to_string(axes) + " elements",
               "at most " + std::to_string(GYRE_MAX_AXES));
    }
    rope.axes = std::int32_t(axes);
    for (std::size_t axis = 0; axis < axes; axis++) {
        const double pairs = std::min(config.mrope_section[axis], 1e9);
        rope.sections[axis] = std::int32_t(pairs);
    }
    rope.section_order = config.mrope_interleaved ? GYRE_SECTIONS_INTERLEAVED : GYRE_SECTIONS_CONTIGUOUS;
}

std::int64_t length_from_positions(const gyre_tensor &positions) {
    std::int64_t elements = 1;
    std::int64_t last = -1;
    for (std::int32_t i = 0; i < positions.rank; i++) elements *= positions.shape[i];
    for (std::int64_t i = 0; i < elements; i++) {
        const std::int64_t position = positions.dtype == GYRE_I64
                                          ? static_cast<const std::int64_t *>(positions.data)[i]
                                          : static_cast<const std::int32_t *>(positions.data)[i];
        last = std::max(last, position);
    }
    return last + 1;
}

void check_rotary_dim(const std::string &option, std::int64_t rotary_dim, std::int64_t offset, std::int64_t head_dim) {
    if (rotary_dim >= 2 && rotary_dim % 2 == 0 && rotary_dim + offset <= head_dim) return;
    const std::string behind = offset > 0 ? " from feature " + std::to_string(offset) + " on" : "";
    refuse(option, std::to_string(rotary_dim) + " features" + behind,
           "an even number that fits the head's " + std::to_string(head_dim));
}

void check_configured_dim(const std::optional<RopeConfig> &config, std::int64_t rotary_dim, std::int64_t head_dim) {
    if (!config || config->rope_type == "proportional") return;
    if (!config->rotary_dim && !config->partial_rotary_factor) return;
    const std::int64_t said = rotary_dim_of(*config, head_dim);
    if (rotary_dim != said)
        refuse("--rotary-dim", std::to_string(rotary_dim), std::to_string(said) + ", as --rope says");
}

} // namespace gyre::cli
