/// What a MultiHeadAttention holds: weights, and what its last forward pass leaves for the backward pass.
#pragma once

#include "linear.h"
#include "relative_bias.h"

#include <gyre/multi_head_attention.h>

#include <string>
#include <vector>

namespace gyre {
inline namespace v0 {

using modules::Rows;

enum { query_input, key_input, value_input, output_projection };

struct MultiHeadAttention::State {
    explicit State(const MultiHeadAttentionOptions &options);

    const MultiHeadAttentionOptions options;
    const std::int64_t features; // d_model
    const std::int32_t head_dim;
    std::vector<float> values, gradients;
    std::vector<Parameter> parameters;

    // The last forward pass: what backward() needs.
    gyre_tensor inputs[3] = {};
    std::int64_t batch = 0;
    std::int64_t rows = 0;
    std::int64_t keys = 0;
    std::vector<float> projected, projected_grad; // q, k and v: beside each other if the inputs are the same
    std::vector<float> mixed, mixed_grad;         // what attention makes of v, and its gradient
    std::vector<float> lse;
    gyre_tensor lse_view = {};
    Rope rope, value_rope;
    modules::RelativeBias relative;
    std::vector<float> relative_bias, relative_bias_grad; // [heads, rows, keys]
    gyre_tensor relative_view = {};
    bool is_training = true;
    std::uint32_t dropout_offset = 0;
    std::vector<std::int32_t> row_positions;
    gyre_tensor row_positions_view = {};
    gyre_tensor alibi = {};
    gyre_tensor mask = {};
    AttentionArgs call;
    bool has_run = false;
    std::vector<float> probabilities;

    bool same(int a, int b) const { return inputs[a].data == inputs[b].data && length(a) == length(b); }
    /// All three inputs are one tensor: one product projects them.
    bool is_self() const { return same(query_input, key_input) && same(query_input, value_input); }
    std::int64_t length(int input) const { return input == query_input ? rows : keys; }
    std::int64_t tokens(int input) const { return batch * length(input); }

    const float *weight(int i) const { return values.data() + i * features * features; }
    float *weight_grad(int i) { return gradients.data() + i * features * features; }
    bool has_bias(int i) const {
        return i == output_projection ? options.output_bias
               : i == value_input     ? options.value_bias
                                      : options.query_key_bias;
    }
    std::int64_t bias_at(int i) const { return (4 * features + i) * features; }
    const float *bias(int i) const { return has_bias(i) ? values.data() + bias_at(i) : nullptr; }
    float *bias_grad(int i) { return has_bias(i) ? gradients.data() + bias_at(i) : nullptr; }

    /// The table of the relative bias stands after all others.
    float *relative_table(std::vector<float> &array) const { return array.data() + 4 * features * (features + 1); }

    /// Rows of q, k or v in an array of all three.
    Rows part(std::vector<float> &array, int input) const {
        if (is_self()) return {array.data() + input * features, 3 * features};
        return {array.data() +
                    (input == query_input ? 0 : tokens(query_input) + (input - 1) * tokens(key_input)) * features,
                features};
    }
    gyre_tensor by_heads(const Rows &x, std::int64_t length) const;
    gyre_tensor part_by_heads(std::vector<float> &array, int input) const {
        return by_heads(part(array, input), length(input));
    }

    void take_inputs(const gyre_tensor &query, const gyre_tensor &key, const gyre_tensor &value);
    void take_mask(const gyre_tensor *given);
    void project();
    void prepare_call();
    void prepare_relative_bias();
    void project_back(const gyre_tensor *const (&grads)[3]);
};

} // namespace v0
} // namespace gyre
