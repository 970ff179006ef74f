/// The options that rotary and attention share for the angles, and the gyre_rope that they describe.
#pragma once

#include "console/command.h"
#include "options/rope_frequencies.h"

#include <gyre/gyre.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gyre::cli {

struct RotationOptions {
    std::optional<double> theta;
    std::string rope; // JSON or @FILE
    bool interleaved = false;
};

/// --theta, --rope, --interleaved
void add_rotation(const Command &command, RotationOptions &options);

/// Reads --rope, if given; refuses it beside --theta, and where it wants interleaved pairs that were not asked for.
std::optional<RopeConfig> rope_config(const RotationOptions &options);

/// A gyre_rope and what it points to.
class Rotation {
public:
    /// Angles from --theta or --rope. rotary_dim: even, at most head_dim. length: tokens, 0 if not known.
    Rotation(const RotationOptions &options, const std::optional<RopeConfig> &config, std::int64_t rotary_dim,
             std::int64_t head_dim, std::int64_t length);
    Rotation(const Rotation &) = delete;
    Rotation &operator=(const Rotation &) = delete;

    gyre_rope rope = gyre_rope_defaults();

private:
    Frequencies frequencies_;
};

/// Lets the pairs read several position axes, as the configuration says. For positions that have these axes.
void use_position_axes(gyre_rope &rope, const RopeConfig &config);

/// Tokens of the sequence: one more than its last position.
std::int64_t length_from_positions(const gyre_tensor &positions);

/// Throws UsageError unless rotary_dim is even, positive, and with the offset inside the head.
void check_rotary_dim(const std::string &option, std::int64_t rotary_dim, std::int64_t offset, std::int64_t head_dim);

/// Throws UsageError, about --rotary-dim, if a configuration says another number of rotated features.
void check_configured_dim(const std::optional<RopeConfig> &config, std::int64_t rotary_dim, std::int64_t head_dim);

} // namespace gyre::cli
