/// Gyre from C++17: views, ownership and exceptions over gyre.h, which says what every argument means. Header-only.
///
///     std::vector<float> q(1 * 128 * 8 * 64), k(q), v(q), out(q);
///     gyre::Context context;                                    // all cores, the best target
///     gyre::Rope rope;                                          // theta 10000, half pairing, the whole head
///     gyre::AttentionArgs args;
///     args.q = gyre::view(q, {1, 128, 8, 64});                  // bshd: [batch, seqlen, heads, head_dim]
///     args.k = gyre::view(k, {1, 128, 8, 64});
///     args.v = gyre::view(v, {1, 128, 8, 64});
///     args.out = gyre::view(out, {1, 128, 8, 64});
///     args.causal = 1;
///     args.rope = &rope;                                        // rotate queries and keys
///     args.value_rope = &rope;                                  // and values, undone on the output: RoPER
///     gyre::attention(context, args);                           // throws gyre::Error
///
/// Argument structures are the C ones with their defaults filled in; what they point to must outlive the call.
#ifndef GYRE_GYRE_HPP
#define GYRE_GYRE_HPP

#include "gyre.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre {
inline namespace v0 { // keeps these names apart from the library's own

// ------------------------------------------------------------------------------------------------ errors

/// What a call that did not return GYRE_OK throws; what() is gyre_last_error().
class Error : public std::runtime_error {
public:
    Error(gyre_status status, const std::string &what) : std::runtime_error(what), status_(status) {}
    gyre_status status() const noexcept { return status_; }

private:
    gyre_status status_;
};

/// Throws Error unless the status is GYRE_OK.
inline void check(gyre_status status) {
    if (status != GYRE_OK) throw Error(status, gyre_last_error());
}

// ------------------------------------------------------------------------------------------------ tensors

/// 1 to GYRE_MAX_RANK extents or strides, outermost first: {2, 128, 8, 64}, or any container of integers.
/// Throws Error (GYRE_BAD_SHAPE) for more or fewer.
class Extents {
public:
    Extents(std::initializer_list<std::int64_t> extents) { assign(extents.begin(), extents.end()); }
    template <typename Container, typename = decltype(std::begin(std::declval<const Container &>()))>
    Extents(const Container &extents) {
        assign(std::begin(extents), std::end(extents));
    }

    std::int32_t rank() const { return rank_; }
    const std::int64_t *data() const { return extents_.data(); }
    /// The number of elements of a tensor of this shape.
    std::int64_t product() const {
        std::int64_t product = 1;
        for (std::int32_t i = 0; i < rank_; i++) product *= extents_[static_cast<std::size_t>(i)];
        return product;
    }

private:
    template <typename Iterator>
    void assign(Iterator begin, Iterator end) {
        const auto count = std::distance(begin, end);
        if (count < 1 || count > GYRE_MAX_RANK)
            throw Error(GYRE_BAD_SHAPE, "view: got " + std::to_string(count) + " dimensions, expected 1 to " +
                                            std::to_string(GYRE_MAX_RANK));
        for (; begin != end; ++begin) extents_[static_cast<std::size_t>(rank_++)] = *begin;
    }

    std::array<std::int64_t, GYRE_MAX_RANK> extents_{};
    std::int32_t rank_ = 0;
};

/// The element type of a C++ type. f16 and bf16 have none: give GYRE_F16 or GYRE_BF16 to view().
template <typename T>
constexpr gyre_dtype dtype_of() {
    using Element = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<Element, float>)
        return GYRE_F32;
    else if constexpr (std::is_same_v<Element, double>)
        return GYRE_F64;
    else if constexpr (std::is_same_v<Element, bool>)
        return GYRE_BOOL;
    else if constexpr (std::is_integral_v<Element> && std::is_signed_v<Element> && sizeof(Element) == 4)
        return GYRE_I32;
    else {
        static_assert(std::is_integral_v<Element> && std::is_signed_v<Element> && sizeof(Element) == 8,
                      "no gyre_dtype for this type: expected float, double, bool, int32_t or int64_t");
        return GYRE_I64;
    }
}

/// A view of CPU memory in C order.
inline gyre_tensor view(const void *data, gyre_dtype dtype, const Extents &shape) {
    return gyre_tensor_dense(data, dtype, shape.rank(), shape.data());
}

/// A view of CPU memory with strides in elements. Throws Error (GYRE_BAD_SHAPE) unless there are as many as extents.
inline gyre_tensor view(const void *data, gyre_dtype dtype, const Extents &shape, const Extents &strides) {
    if (strides.rank() != shape.rank())
        throw Error(GYRE_BAD_SHAPE, "view: got " + std::to_string(strides.rank()) + " strides, expected " +
                                        std::to_string(shape.rank()));
    gyre_tensor tensor = view(data, dtype, shape);
    for (std::int32_t i = 0; i < shape.rank(); i++) tensor.strides[i] = strides.data()[i];
    return tensor;
}

template <typename T>
gyre_tensor view(T *data, const Extents &shape) {
    return view(data, dtype_of<T>(), shape);
}
template <typename T>
gyre_tensor view(T *data, const Extents &shape, const Extents &strides) {
    return view(data, dtype_of<T>(), shape, strides);
}

/// A view of all elements of a std::vector, std::array, std::span … in C order. Throws Error (GYRE_BAD_SHAPE) unless
/// the shape has as many elements.
template <typename Container, typename = decltype(std::data(std::declval<Container &>()))>
gyre_tensor view(Container &elements, const Extents &shape) {
    if (shape.product() != static_cast<std::int64_t>(std::size(elements)))
        throw Error(GYRE_BAD_SHAPE, "view: got " + std::to_string(std::size(elements)) +
                                        " elements, expected the shape's " + std::to_string(shape.product()));
    return view(std::data(elements), shape);
}

/// Views a DLPack tensor.
inline gyre_tensor view(const DLTensor &tensor) {
    gyre_tensor result;
    check(gyre_tensor_from_dlpack(&tensor, &result));
    return result;
}

// ------------------------------------------------------------------------------------------------ context

struct ContextOptions : gyre_context_options {
    ContextOptions() : gyre_context_options(gyre_context_defaults()) {}
};

/// Owns a gyre_context; movable. Converts to the pointer that the functions below take, where nullptr is fine, too.
class Context {
public:
    explicit Context(const gyre_context_options &options = ContextOptions()) {
        gyre_context *context = nullptr;
        check(gyre_context_create(&options, &context));
        context_.reset(context);
    }

    operator gyre_context *() const noexcept { return context_.get(); }
    std::int32_t threads() const { return gyre_context_threads(context_.get()); }
    std::string target() const { return gyre_context_target(context_.get()); }
    /// The kernel that the last successful call ran; "" before the first.
    std::string selected_kernel() const { return gyre_selected_kernel(context_.get()); }
    std::string selected_library() const { return gyre_selected_library(context_.get()); }

private:
    struct Destroy {
        void operator()(gyre_context *context) const { gyre_context_destroy(context); }
    };
    std::unique_ptr<gyre_context, Destroy> context_;
};

// ------------------------------------------------------------------------------------------------ operations

struct FrequencyRule : gyre_frequency_rule {
    FrequencyRule() : gyre_frequency_rule(gyre_frequency_defaults()) {}
};
struct Rope : gyre_rope {
    Rope() : gyre_rope(gyre_rope_defaults()) {}
};
struct RotaryArgs : gyre_rotary_args {
    RotaryArgs() : gyre_rotary_args(gyre_rotary_defaults()) {}
};
struct RotaryQkArgs : gyre_rotary_qk_args {
    RotaryQkArgs() : gyre_rotary_qk_args(gyre_rotary_qk_defaults()) {}
};
struct CacheAppendArgs : gyre_cache_append_args {
    CacheAppendArgs() : gyre_cache_append_args(gyre_cache_append_defaults()) {}
};
struct AttentionMergeArgs : gyre_attention_merge_args {
    AttentionMergeArgs() : gyre_attention_merge_args(gyre_attention_merge_defaults()) {}
};
struct AttentionArgs : gyre_attention_args {
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

/// Of gyre_attention_backward(); the forward call's arguments must outlive it.
struct AttentionBackwardArgs : gyre_attention_backward_args {
    explicit AttentionBackwardArgs(const gyre_attention_args &of)
        : gyre_attention_backward_args(gyre_attention_backward_defaults()) {
        forward = &of;
    }
    explicit AttentionBackwardArgs(const gyre_attention_args &&of) = delete;
};

struct LinearAttentionArgs : gyre_linear_attention_args {
    LinearAttentionArgs() : gyre_linear_attention_args(gyre_linear_attention_defaults()) {}
};

/// Of gyre_linear_attention_backward(); the forward call's arguments must outlive it.
struct LinearAttentionBackwardArgs : gyre_linear_attention_backward_args {
    explicit LinearAttentionBackwardArgs(const gyre_linear_attention_args &of)
        : gyre_linear_attention_backward_args(gyre_linear_attention_backward_defaults()) {
        forward = &of;
    }
    explicit LinearAttentionBackwardArgs(const gyre_linear_attention_args &&of) = delete;
};

struct Frequencies {
    std::vector<double> inv_freq; // [rotary_dim / 2] radians a token
    double attention_factor = 1;
};

/// gyre_frequencies(). length: tokens of the sequence, 0 if not known.
inline Frequencies frequencies(const gyre_frequency_rule &rule, std::int32_t rotary_dim, std::int32_t head_dim,
                               std::int64_t length = 0) {
    Frequencies result;
    result.inv_freq.resize(static_cast<std::size_t>(rotary_dim > 2 ? rotary_dim / 2 : 1)); // the library refuses < 2
    check(gyre_frequencies(&rule, rotary_dim, head_dim, length, result.inv_freq.data(), &result.attention_factor));
    return result;
}

/// gyre_rotary(), gyre_rotary_qk(), gyre_attention(), gyre_attention_backward(), gyre_attention_merge(),
/// gyre_linear_attention(), gyre_linear_attention_backward() and gyre_cache_append(), and the bytes of workspace that they
/// need.
inline void rotary(gyre_context *context, const gyre_rotary_args &args) { check(gyre_rotary(context, &args)); }
inline void rotary(gyre_context *context, const gyre_rotary_qk_args &args) { check(gyre_rotary_qk(context, &args)); }
inline void attention(gyre_context *context, const gyre_attention_args &args) { check(gyre_attention(context, &args)); }
inline void backward(gyre_context *context, const gyre_attention_backward_args &args) {
    check(gyre_attention_backward(context, &args));
}
inline void merge(gyre_context *context, const gyre_attention_merge_args &args) {
    check(gyre_attention_merge(context, &args));
}
inline void attention(gyre_context *context, const gyre_linear_attention_args &args) {
    check(gyre_linear_attention(context, &args));
}
inline void backward(gyre_context *context, const gyre_linear_attention_backward_args &args) {
    check(gyre_linear_attention_backward(context, &args));
}
inline void append(gyre_context *context, const gyre_cache_append_args &args) {
    check(gyre_cache_append(context, &args));
}

inline std::size_t workspace_size(gyre_context *context, const gyre_rotary_args &args) {
    std::size_t bytes = 0;
    check(gyre_rotary_workspace_size(context, &args, &bytes));
    return bytes;
}
inline std::size_t workspace_size(gyre_context *context, const gyre_rotary_qk_args &args) {
    std::size_t bytes = 0;
    check(gyre_rotary_qk_workspace_size(context, &args, &bytes));
    return bytes;
}
inline std::size_t workspace_size(gyre_context *context, const gyre_attention_merge_args &args) {
    std::size_t bytes = 0;
    check(gyre_attention_merge_workspace_size(context, &args, &bytes));
    return bytes;
}
inline std::size_t workspace_size(gyre_context *context, const gyre_cache_append_args &args) {
    std::size_t bytes = 0;
    check(gyre_cache_append_workspace_size(context, &args, &bytes));
    return bytes;
}
inline std::size_t workspace_size(gyre_context *context, const gyre_attention_backward_args &args) {
    std::size_t bytes = 0;
    check(gyre_attention_backward_workspace_size(context, &args, &bytes));
    return bytes;
}
inline std::size_t workspace_size(gyre_context *context, const gyre_linear_attention_args &args) {
    std::size_t bytes = 0;
    check(gyre_linear_attention_workspace_size(context, &args, &bytes));
    return bytes;
}
inline std::size_t workspace_size(gyre_context *context, const gyre_linear_attention_backward_args &args) {
    std::size_t bytes = 0;
    check(gyre_linear_attention_backward_workspace_size(context, &args, &bytes));
    return bytes;
}
inline std::size_t workspace_size(gyre_context *context, const gyre_attention_args &args) {
    std::size_t bytes = 0;
    check(gyre_attention_workspace_size(context, &args, &bytes));
    return bytes;
}

// ------------------------------------------------------------------------------------------------ what is linked

/// Targets of this architecture, best first.
inline std::vector<gyre_target_info> targets() {
    std::vector<gyre_target_info> all(static_cast<std::size_t>(gyre_target_count()));
    for (std::size_t i = 0; i < all.size(); i++) gyre_target_at(static_cast<std::int32_t>(i), &all[i]);
    return all;
}

/// Kernels in the order in which they are tried.
inline std::vector<gyre_kernel_info> kernels() {
    std::vector<gyre_kernel_info> all(static_cast<std::size_t>(gyre_kernel_count()));
    for (std::size_t i = 0; i < all.size(); i++) gyre_kernel_at(static_cast<std::int32_t>(i), &all[i]);
    return all;
}

/// Which kernels take which calls, in the order in which the rules are tried.
inline std::vector<gyre_dispatch_rule> dispatch_rules() {
    std::vector<gyre_dispatch_rule> all(static_cast<std::size_t>(gyre_dispatch_rule_count()));
    for (std::size_t i = 0; i < all.size(); i++) gyre_dispatch_rule_at(static_cast<std::int32_t>(i), &all[i]);
    return all;
}

} // namespace v0
} // namespace gyre
#endif
