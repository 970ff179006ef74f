/// The options of gyre attention and gyre bench attention.
#pragma once

#include "options/declared_options.h"
#include "options/layout.h"
#include "options/rotation.h"

#include <gyre/gyre.h>

#include <cstdint>
#include <limits>
#include <optional>

namespace gyre::cli {

/// --causal, --causal bottom_right, --causal top_left
void add_causal(const Command &command, std::optional<gyre_alignment> &causal);

/// Every option but those of the tensors.
struct AttentionOptions : DeclaredOptions {
    static constexpr double any = -std::numeric_limits<double>::infinity();
    static constexpr std::int64_t most_tokens = std::numeric_limits<std::int32_t>::max();
    static constexpr std::int64_t most_calls = std::numeric_limits<std::uint32_t>::max();

    // clang-format off
    Declared<std::optional<gyre_layout>> layout{*this, add_layout};
    RealNumber scale{*this, "--scale", any, "of the scores, default 1/sqrt(head_dim)"};
    RealNumber softcap{*this, "--softcap", 0, "softcap * tanh(score / softcap); 0: off"};
    Declared<std::optional<gyre_alignment>> causal{*this, add_causal};
    WholeNumber window_left{*this, "--window-left", -1, most_tokens, "earlier keys seen, -1: all"};
    WholeNumber window_right{*this, "--window-right", -1, most_tokens, "later keys seen, -1: all"};
    File bias{*this, "--bias", "B.npy", "float, added to scores; broadcast to [b, heads, lq, lk]"};
    File mask{*this, "--mask", "M.npy", "bool, true = attend; broadcast likewise"};
    File sinks{*this, "--sinks", "S.npy", "float, [num_heads]: joins the denominator only"};
    File alibi{*this, "--alibi", "A.npy", "float, [num_heads]: slope * (pos_k - pos_q) is added"};
    File seqused_k{*this, "--seqused-k", "N.npy", "int, [batch]: only so many keys exist"};
    File cu_seqlens_q{*this, "--cu-seqlens-q", "C.npy", "int, [batch + 1]: where packed sequences begin"};
    File cu_seqlens_k{*this, "--cu-seqlens-k", "C.npy", "the same for keys and values"};
    File page_table{*this, "--page-table", "T.npy", "int, [batch, pages]: --k and --v are pools of pages, --seqused-k says how many keys exist"};
    Choice<gyre_value_order> value_order{*this, "--value-order", {{"rows", GYRE_VALUES_IN_ROWS}, {"blocks", GYRE_VALUES_IN_BLOCKS}}, "how --v keeps values; in blocks: [v_head_dim][32] of every 32 tokens, bf16"};
    RealNumber dropout{*this, "--dropout", 0, "probability that a weight becomes 0, below 1"};
    Seed dropout_seed{*this, "--dropout-seed", "key of the random numbers, default 0"};
    WholeNumber dropout_offset{*this, "--dropout-offset", 0, most_calls, "of this call among those with the seed, default 0"};
    WholeNumber rotary_dim{*this, "--rotary-dim", 0, most_tokens, "RoPE: rotated features of q and k"};
    WholeNumber rotary_v_dim{*this, "--rotary-v-dim", 0, most_tokens, "RoPER: rotated features of v"};
    Flag keys_rotated{*this, "--keys-rotated", "--k is a cache of rotated keys"};
    Flag values_rotated{*this, "--values-rotated", "--v is a cache of rotated values"};
    Declared<RotationOptions> rotation{*this, add_rotation};
    File q_positions{*this, "--q-positions", "P.npy", "int, [batch, seqlen] or [seqlen], for rotations"};
    File k_positions{*this, "--k-positions", "P.npy", "the same for keys and values"};
    // clang-format on
};

/// Throws UsageError for options that contradict each other, or that do nothing without another.
void check_combinations(const AttentionOptions &options);

/// thd where sequences are packed, else --layout.
gyre_layout layout_of(const AttentionOptions &options);

/// The layout of k and v, which may be pools of pages beside packed queries.
gyre_layout keys_layout_of(const AttentionOptions &options);

} // namespace gyre::cli
