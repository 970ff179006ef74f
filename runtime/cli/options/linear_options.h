/// The options of gyre linear-attention and gyre bench linear-attention.
#pragma once

#include "console/command.h"
#include "options/rotation.h"

#include <gyre/gyre.h>

#include <cstdint>
#include <optional>
#include <string>

namespace gyre::cli {

struct LinearOptions {
    std::optional<gyre_layout> layout;
    std::optional<gyre_alignment> causal;              // both mean the same: there are as many queries as keys
    std::string seqused_k, cu_seqlens_q, cu_seqlens_k; // files
    std::optional<std::int64_t> rotary_dim;
    RotationOptions rotation;
    std::string q_positions, k_positions, kv_state, k_state; // files
};

/// Adds every option but those of the tensors.
void add_linear_options(const Command &command, LinearOptions &options);

/// Throws UsageError for options that contradict each other, or that do nothing without another.
void check_combinations(const LinearOptions &options);

/// thd where sequences are packed, else --layout.
gyre_layout layout_of(const LinearOptions &options);

} // namespace gyre::cli
