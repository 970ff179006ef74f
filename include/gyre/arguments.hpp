/// @file
/// Argument structures with their defaults filled in.
#ifndef GYRE_ARGUMENTS_HPP
#define GYRE_ARGUMENTS_HPP

#include "attention.h"
#include "attention_backward.h"
#include "attention_merge.h"
#include "cache.h"
#include "frequencies.h"
#include "linear_attention.h"
#include "linear_attention_backward.h"
#include "rotary.h"

#include <cstdint>
#include <vector>

namespace gyre {
inline namespace v0 { // keeps these names apart from the library's own

/// A rule that begins as gyre_frequency_defaults().
struct FrequencyRule : gyre_frequency_rule {
    /// The defaults.
    FrequencyRule() : gyre_frequency_rule(gyre_frequency_defaults()) {}
};

/// A rotation that begins as gyre_rope_defaults().
struct Rope : gyre_rope {
    /// The defaults.
    Rope() : gyre_rope(gyre_rope_defaults()) {}
};

/// Arguments of gyre_rotary() that begin as gyre_rotary_defaults().
struct RotaryArgs : gyre_rotary_args {
    /// The defaults.
    RotaryArgs() : gyre_rotary_args(gyre_rotary_defaults()) {}
};

/// Arguments of gyre_rotary_qk() that begin as gyre_rotary_qk_defaults().
struct RotaryQkArgs : gyre_rotary_qk_args {
    /// The defaults.
    RotaryQkArgs() : gyre_rotary_qk_args(gyre_rotary_qk_defaults()) {}
};

/// Arguments of gyre_cache_append() that begin as gyre_cache_append_defaults().
struct CacheAppendArgs : gyre_cache_append_args {
    /// The defaults.
    CacheAppendArgs() : gyre_cache_append_args(gyre_cache_append_defaults()) {}
};

/// Arguments of gyre_attention_merge() that begin as gyre_attention_merge_defaults().
struct AttentionMergeArgs : gyre_attention_merge_args {
    /// The defaults.
    AttentionMergeArgs() : gyre_attention_merge_args(gyre_attention_merge_defaults()) {}
};

/// Arguments of gyre_attention() that begin as gyre_attention_defaults().
struct AttentionArgs : gyre_attention_args {
    /// The defaults.
    AttentionArgs() : gyre_attention_args(gyre_attention_defaults()) {}

    /// Names the score function and its inputs, {{"slopes", gyre::view(slopes, {heads})}}; the list must outlive the
    /// call.
    void use_score(const char *name, const std::vector<gyre_score_input> &inputs) {
        score = name;
        score_inputs = inputs.data();
        score_input_count = static_cast<std::int32_t>(inputs.size());
    }
    void use_score(const char *name, std::vector<gyre_score_input> &&inputs) = delete;
};

/// Arguments of gyre_attention_backward() that begin as its defaults; the forward call's arguments must outlive them.
struct AttentionBackwardArgs : gyre_attention_backward_args {
    /// The defaults, and the forward call.
    explicit AttentionBackwardArgs(const gyre_attention_args &of)
        : gyre_attention_backward_args(gyre_attention_backward_defaults()) {
        forward = &of;
    }
    explicit AttentionBackwardArgs(const gyre_attention_args &&of) = delete;
};

/// Arguments of gyre_linear_attention() that begin as gyre_linear_attention_defaults().
struct LinearAttentionArgs : gyre_linear_attention_args {
    /// The defaults.
    LinearAttentionArgs() : gyre_linear_attention_args(gyre_linear_attention_defaults()) {}
};

/// Arguments of gyre_linear_attention_backward() that begin as its defaults; the forward call's arguments must outlive them.
struct LinearAttentionBackwardArgs : gyre_linear_attention_backward_args {
    /// The defaults, and the forward call.
    explicit LinearAttentionBackwardArgs(const gyre_linear_attention_args &of)
        : gyre_linear_attention_backward_args(gyre_linear_attention_backward_defaults()) {
        forward = &of;
    }
    explicit LinearAttentionBackwardArgs(const gyre_linear_attention_args &&of) = delete;
};

} // namespace v0
} // namespace gyre
#endif
