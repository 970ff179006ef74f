/// The options of gyre attention and gyre bench attention.
#pragma once

#include "console/command.h"
#include "options/rotation.h"

#include <gyre/gyre.h>

#include <cstdint>
#include <optional>
#include <string>

namespace gyre::cli {

struct AttentionOptions {
    std::optional<gyre_layout> layout;
    std::optional<double> scale, softcap;
    std::optional<gyre_alignment> causal;
    std::optional<std::int64_t> window_left, window_right;
    std::string bias, mask, sinks, alibi, seqused_k, cu_seqlens_q, cu_seqlens_k, page_table; // files
    std::optional<gyre_value_order> value_order;
    std::optional<double> dropout;
    std::optional<std::int64_t> dropout_seed, dropout_offset;
    std::optional<std::int64_t> rotary_dim, rotary_v_dim;
    bool keys_rotated = false;
    bool values_rotated = false;
    RotationOptions rotation;
    std::string q_positions, k_positions; // files
};

/// --causal, --causal bottom_right, --causal top_left
void add_causal(const Command &command, std::optional<gyre_alignment> &causal);

/// Adds every option but those of the tensors.
void add_attention_options(const Command &command, AttentionOptions &options);

/// Throws UsageError for options that contradict each other, or that do nothing without another.
void check_combinations(const AttentionOptions &options);

/// thd where sequences are packed, else --layout.
gyre_layout layout_of(const AttentionOptions &options);

/// The layout of k and v, which may be pools of pages beside packed queries.
gyre_layout keys_layout_of(const AttentionOptions &options);

} // namespace gyre::cli
