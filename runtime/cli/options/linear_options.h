/// The options of gyre linear-attention and gyre bench linear-attention.
#pragma once

#include "options/attention_options.h"

#include <gyre/gyre.h>

#include <cstdint>
#include <limits>
#include <optional>

namespace gyre::cli {

/// --causal; --causal top_left, which it means; --causal bottom_right, which is the same where there are as many keys as queries.
void add_linear_causal(const Command &command, std::optional<gyre_alignment> &causal);

/// Every option but those of the tensors.
struct LinearOptions : DeclaredOptions {
    static constexpr std::int64_t most_features = std::numeric_limits<std::int32_t>::max();

    // clang-format off
    Declared<std::optional<gyre_layout>> layout{*this, add_layout};
    Declared<std::optional<gyre_alignment>> causal{*this, add_linear_causal};
    File seqused_k{*this, "--seqused-k", "N.npy", "int, [batch]: only so many keys exist"};
    File cu_seqlens_q{*this, "--cu-seqlens-q", "C.npy", "int, [batch + 1]: where packed sequences begin"};
    File cu_seqlens_k{*this, "--cu-seqlens-k", "C.npy", "the same for keys and values"};
    WholeNumber rotary_dim{*this, "--rotary-dim", 0, most_features, "RoPE: rotated features of q and k in the numerator"};
    Declared<RotationOptions> rotation{*this, add_rotation};
    File q_positions{*this, "--q-positions", "P.npy", "int, [batch, seqlen] or [seqlen], for rotations"};
    File k_positions{*this, "--k-positions", "P.npy", "the same for keys"};
    File kv_state{*this, "--kv-state", "S.npy", "float, [batch, num_kv_heads, head_dim, v_head_dim]: what earlier keys left"};
    File k_state{*this, "--k-state", "Z.npy", "float, [batch, num_kv_heads, head_dim]: likewise"};
    // clang-format on
};

/// Throws UsageError for options that contradict each other, or that do nothing without another.
void check_combinations(const LinearOptions &options);

/// thd where sequences are packed, else --layout.
gyre_layout layout_of(const LinearOptions &options);

} // namespace gyre::cli
