/// @file
/// Calls that throw Error.
#ifndef GYRE_OPERATIONS_HPP
#define GYRE_OPERATIONS_HPP

#include "attention.h"
#include "attention_backward.h"
#include "attention_merge.h"
#include "cache.h"
#include "error.hpp"
#include "frequencies.h"
#include "linear_attention.h"
#include "linear_attention_backward.h"
#include "rotary.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gyre {
inline namespace v0 { // keeps these names apart from the library's own

/// What gyre_frequencies() forms.
struct Frequencies {
    std::vector<double> inv_freq; ///< [rotary_dim / 2] radians a token
    double attention_factor = 1;  ///< what cos and sin of queries and keys are multiplied by
};

/// Calls gyre_frequencies(). `length` is the tokens of the sequence, 0 if not known. Throws Error.
inline Frequencies frequencies(const gyre_frequency_rule &rule, std::int32_t rotary_dim, std::int32_t head_dim,
                               std::int64_t length = 0) {
    Frequencies result;
    result.inv_freq.resize(static_cast<std::size_t>(rotary_dim > 2 ? rotary_dim / 2 : 1)); // the library refuses < 2
    check(gyre_frequencies(&rule, rotary_dim, head_dim, length, result.inv_freq.data(), &result.attention_factor));
    return result;
}

/// Calls gyre_rotary(). Throws Error.
inline void rotary(gyre_context *context, const gyre_rotary_args &args) { check(gyre_rotary(context, &args)); }

/// Calls gyre_rotary_qk(). Throws Error.
inline void rotary(gyre_context *context, const gyre_rotary_qk_args &args) { check(gyre_rotary_qk(context, &args)); }

/// Calls gyre_attention(). Throws Error.
inline void attention(gyre_context *context, const gyre_attention_args &args) { check(gyre_attention(context, &args)); }

/// Calls gyre_attention_backward(). Throws Error.
inline void backward(gyre_context *context, const gyre_attention_backward_args &args) {
    check(gyre_attention_backward(context, &args));
}

/// Calls gyre_attention_merge(). Throws Error.
inline void merge(gyre_context *context, const gyre_attention_merge_args &args) {
    check(gyre_attention_merge(context, &args));
}

/// Calls gyre_linear_attention(). Throws Error.
inline void attention(gyre_context *context, const gyre_linear_attention_args &args) {
    check(gyre_linear_attention(context, &args));
}

/// Calls gyre_linear_attention_backward(). Throws Error.
inline void backward(gyre_context *context, const gyre_linear_attention_backward_args &args) {
    check(gyre_linear_attention_backward(context, &args));
}

/// Calls gyre_cache_append(). Throws Error.
inline void append(gyre_context *context, const gyre_cache_append_args &args) {
    check(gyre_cache_append(context, &args));
}

/// The bytes that a gyre_*_workspace_size() says. Throws Error.
template <typename Args>
std::size_t bytes_told_by(gyre_status (*query)(gyre_context *, const Args *, std::size_t *), gyre_context *context,
                          const Args &args) {
    std::size_t bytes = 0;
    check(query(context, &args, &bytes));
    return bytes;
}

/// The bytes of workspace that gyre_rotary() needs with these arguments. Throws Error.
inline std::size_t workspace_size(gyre_context *context, const gyre_rotary_args &args) {
    return bytes_told_by(gyre_rotary_workspace_size, context, args);
}

/// The bytes of workspace that gyre_rotary_qk() needs with these arguments. Throws Error.
inline std::size_t workspace_size(gyre_context *context, const gyre_rotary_qk_args &args) {
    return bytes_told_by(gyre_rotary_qk_workspace_size, context, args);
}

/// The bytes of workspace that gyre_attention_merge() needs with these arguments. Throws Error.
inline std::size_t workspace_size(gyre_context *context, const gyre_attention_merge_args &args) {
    return bytes_told_by(gyre_attention_merge_workspace_size, context, args);
}

/// The bytes of workspace that gyre_cache_append() needs with these arguments. Throws Error.
inline std::size_t workspace_size(gyre_context *context, const gyre_cache_append_args &args) {
    return bytes_told_by(gyre_cache_append_workspace_size, context, args);
}

/// The bytes of workspace that gyre_attention_backward() needs with these arguments. Throws Error.
inline std::size_t workspace_size(gyre_context *context, const gyre_attention_backward_args &args) {
    return bytes_told_by(gyre_attention_backward_workspace_size, context, args);
}

/// The bytes of workspace that gyre_linear_attention() needs with these arguments. Throws Error.
inline std::size_t workspace_size(gyre_context *context, const gyre_linear_attention_args &args) {
    return bytes_told_by(gyre_linear_attention_workspace_size, context, args);
}

/// The bytes of workspace that gyre_linear_attention_backward() needs with these arguments. Throws Error.
inline std::size_t workspace_size(gyre_context *context, const gyre_linear_attention_backward_args &args) {
    return bytes_told_by(gyre_linear_attention_backward_workspace_size, context, args);
}

/// The bytes of workspace that gyre_attention() needs with these arguments. Throws Error.
inline std::size_t workspace_size(gyre_context *context, const gyre_attention_args &args) {
    return bytes_told_by(gyre_attention_workspace_size, context, args);
}

} // namespace v0
} // namespace gyre
#endif
