#include <gyre/multi_head_attention.h>

#include "linear.h"
#include "saved_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gyre {
inline namespace v0 {
namespace {

using modules::ConstRows;
using modules::LinearSizes;
using modules::Rows;

enum { query_input, key_input, value_input, output_projection };

std::string text(const gyre_tensor &t) {
    std::string shape = "[";
    for (std::int32_t i = 0; i < t.rank; i++) shape += (i ? ", " : "") + std::to_string(t.shape[i]);
    return shape + "]";
}

/// Features of a head that a percentage comes to.
std::int32_t rotated_features(const char *name, double percentage, std::int32_t head_dim) {
    const double features = head_dim * percentage;
    if (!(percentage >= 0 && percentage <= 1) || static_cast<std::int32_t>(features) % 2 != 0)
        throw Error(GYRE_BAD_ARGUMENT, std::string(name) + ": got " + std::to_string(percentage) + " of " +
                                           std::to_string(head_dim) +
                                           " features, expected 0 to 1 and an even number of features");
    return static_cast<std::int32_t>(features);
}

void check_tensor(const char *name, const gyre_tensor &t, const Extents &shape) {
    if (t.dtype != GYRE_F32) throw Error(GYRE_BAD_TYPE, std::string(name) + ": expected f32");
    if (t.device != GYRE_CPU) throw Error(GYRE_UNSUPPORTED, std::string(name) + ": expected a tensor on the CPU");
    const gyre_tensor dense = view(t.data, GYRE_F32, shape);
    if (t.rank != dense.rank || !std::equal(dense.shape, dense.shape + dense.rank, t.shape))
        throw Error(GYRE_BAD_SHAPE, std::string(name) + ": got shape " + text(t) + ", expected " + text(dense));
    for (std::int32_t i = 0; i < t.rank; i++)
        if (t.shape[i] > 1 && t.strides[i] != dense.strides[i])
            throw Error(GYRE_BAD_SHAPE, std::string(name) + ": expected C order");
    if (!t.data && shape.product() > 0) throw Error(GYRE_BAD_ARGUMENT, std::string(name) + ": got no data");
}

/// Does every query see the keys up to its own place, and no others?
bool is_causal(const gyre_tensor &mask) {
    for (std::int64_t b = 0; b < mask.shape[2]; b++)
        for (std::int64_t i = 0; i < mask.shape[0]; i++)
            for (std::int64_t j = 0; j < mask.shape[1]; j++) {
                const std::int64_t at = i * mask.strides[0] + j * mask.strides[1] + b * mask.strides[2];
                if ((static_cast<const unsigned char *>(mask.data)[at] != 0) != (j <= i)) return false;
            }
    return true;
}

} // namespace

struct MultiHeadAttention::State {
    explicit State(const MultiHeadAttentionOptions &options);

    const MultiHeadAttentionOptions options;
    const std::int64_t features; // d_model
    const std::int32_t head_dim;
    std::vector<float> values, gradients;
    std::vector<Parameter> parameters;

    // The last forward pass: what backward() needs.
    gyre_tensor inputs[3] = {};
    std::int64_t batch = 0, rows = 0, keys = 0;
    std::vector<float> projected, projected_grad; // q, k and v: beside each other if the inputs are the same
    std::vector<float> mixed, mixed_grad;         // what attention makes of v, and its gradient
    std::vector<float> lse;
    gyre_tensor lse_view = {};
    Rope rope, value_rope;
    std::vector<std::int32_t> row_positions;
    gyre_tensor row_positions_view = {}, alibi = {}, mask = {};
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
    void project_back(const gyre_tensor *const (&grads)[3]);
};

MultiHeadAttention::State::State(const MultiHeadAttentionOptions &o)
    : options(o), features(o.d_model), head_dim(o.heads > 0 ? o.d_model / o.heads : 0) {
    if (o.heads < 1 || o.d_model < 1)
        throw Error(GYRE_BAD_ARGUMENT, "options: got " + std::to_string(o.heads) + " heads and d_model " +
                                           std::to_string(o.d_model) + ", expected at least 1");
    if (o.d_model % o.heads != 0)
        throw Error(GYRE_BAD_SHAPE, "d_model: got " + std::to_string(o.d_model) + ", expected a multiple of heads, " +
                                        std::to_string(o.heads));
    if (!o.alibi_slopes.empty() && o.alibi_slopes.size() != static_cast<std::size_t>(o.heads))
        throw Error(GYRE_BAD_SHAPE, "alibi_slopes: got " + std::to_string(o.alibi_slopes.size()) +
                                        ", expected one a head, " + std::to_string(o.heads));
    for (Rope *r : {&rope, &value_rope}) r->pairing = o.pairing, r->theta = o.theta;
    rope.rotary_dim = rotated_features("rope_percentage", o.rope_percentage, head_dim);
    value_rope.rotary_dim = rotated_features("rope_value_percentage", o.rope_value_percentage, head_dim);

    values.resize(static_cast<std::size_t>(4 * features * (features + 1)));
    gradients.resize(values.size());
    const char *names[] = {"query.linear", "key.linear", "value.linear", "output"};
    for (int i : {query_input, key_input, value_input, output_projection}) {
        parameters.push_back({std::string(names[i]) + ".weight",
                              {features, features},
                              values.data() + i * features * features,
                              weight_grad(i)});
        if (has_bias(i))
            parameters.push_back(
                {std::string(names[i]) + ".bias", {features}, values.data() + bias_at(i), bias_grad(i)});
    }
}

/// [batch, seq, heads, head_dim]
gyre_tensor MultiHeadAttention::State::by_heads(const Rows &x, std::int64_t length) const {
    const std::int64_t of_token = options.batch_first ? x.stride : batch * x.stride;
    const std::int64_t of_batch = options.batch_first ? length * x.stride : x.stride;
    return view(x.data, {batch, length, options.heads, head_dim}, {of_batch, of_token, head_dim, 1});
}

void MultiHeadAttention::State::take_inputs(const gyre_tensor &query, const gyre_tensor &key,
                                            const gyre_tensor &value) {
    has_run = false;
    const int batch_at = options.batch_first ? 0 : 1, seq_at = 1 - batch_at;
    for (const gyre_tensor *t : {&query, &key})
        if (t->rank != 3)
            throw Error(GYRE_BAD_SHAPE, std::string(t == &query ? "query" : "key") + ": got " +
                                            std::to_string(t->rank) + " dimensions, expected 3");
    batch = query.shape[batch_at], rows = query.shape[seq_at], keys = key.shape[seq_at];
    const auto shape = [&](std::int64_t seq) {
        return options.batch_first ? Extents{batch, seq, features} : Extents{seq, batch, features};
    };
    check_tensor("query", query, shape(rows));
    check_tensor("key", key, shape(keys));
    check_tensor("value", value, shape(keys));
    if (std::max(tokens(query_input), tokens(key_input)) > std::numeric_limits<std::int32_t>::max())
        throw Error(GYRE_UNSUPPORTED, "query: got over 2^31 tokens");
    inputs[query_input] = query, inputs[key_input] = key, inputs[value_input] = value;
}

void MultiHeadAttention::State::take_mask(const gyre_tensor *given) {
    call.mask = nullptr;
    call.causal = options.causal;
    if (!given) return;
    const gyre_tensor &m = *given;
    if (m.dtype != GYRE_BOOL) throw Error(GYRE_BAD_TYPE, "mask: expected bool");
    if (m.rank != 3 || (m.shape[0] != rows && m.shape[0] != 1) || m.shape[1] != keys ||
        (m.shape[2] != batch && m.shape[2] != 1))
        throw Error(GYRE_BAD_SHAPE, "mask: got shape " + text(m) + ", expected [" + std::to_string(rows) + " or 1, " +
                                        std::to_string(keys) + ", " + std::to_string(batch) + " or 1]");
    if (m.data && m.shape[0] == rows && is_causal(m)) {
        call.causal = 1; // which kernels skip, and form gradients of
        return;
    }
    mask =
        view(m.data, GYRE_BOOL, {m.shape[2], 1, m.shape[0], m.shape[1]}, {m.strides[2], 0, m.strides[0], m.strides[1]});
    call.mask = &mask;
}

void MultiHeadAttention::State::project() {
    projected.resize(static_cast<std::size_t>((tokens(query_input) + 2 * tokens(key_input)) * features));
    if (is_self() && has_bias(query_input) == has_bias(value_input)) {
        modules::linear({tokens(query_input), features, 3 * features},
                        {static_cast<const float *>(inputs[0].data), features}, weight(0), bias(0),
                        part(projected, query_input));
        return;
    }
    for (int i : {query_input, key_input, value_input})
        modules::linear({tokens(i), features, features}, {static_cast<const float *>(inputs[i].data), features},
                        weight(i), bias(i), part(projected, i));
}

void MultiHeadAttention::State::prepare_call() {
    mixed.resize(static_cast<std::size_t>(tokens(query_input) * features));
    lse.resize(static_cast<std::size_t>(tokens(query_input) * options.heads));
    lse_view = view(lse, {batch, options.heads, rows});
    call.q = part_by_heads(projected, query_input);
    call.k = part_by_heads(projected, key_input);
    call.v = part_by_heads(projected, value_input);
    call.out = by_heads({mixed.data(), features}, rows);
    call.lse = &lse_view;
    call.alignment = GYRE_TOP_LEFT;
    call.rope = rope.rotary_dim ? &rope : nullptr;
    call.value_rope = value_rope.rotary_dim ? &value_rope : nullptr;
    call.alibi = nullptr;
    if (!options.alibi_slopes.empty()) {
        alibi = view(options.alibi_slopes.data(), GYRE_F32, {options.heads});
        call.alibi = &alibi;
    }
    call.q_positions = nullptr;
    if (rows != keys && (call.rope || call.value_rope)) { // the library's own count would end with the last key
        row_positions.resize(static_cast<std::size_t>(rows));
        std::iota(row_positions.begin(), row_positions.end(), 0);
        row_positions_view = view(row_positions, {rows});
        call.q_positions = &row_positions_view;
    }
}

/// Gradients of the projections of queries, keys and values.
void MultiHeadAttention::State::project_back(const gyre_tensor *const (&grads)[3]) {
    const auto in = [&](int i) { return ConstRows(static_cast<const float *>(inputs[i].data), features); };
    const auto out = [&](int i) { return Rows{static_cast<float *>(grads[i]->data), features}; };
    if (is_self() && has_bias(query_input) == has_bias(value_input)) {
        const LinearSizes sizes{tokens(query_input), features, 3 * features};
        const Rows y = part(projected_grad, query_input);
        modules::linear_weight_gradient(sizes, in(0), y, weight_grad(0), bias_grad(0));
        modules::linear_input_gradient(sizes, y, weight(0), out(0), false);
        return;
    }
    for (int i : {query_input, key_input, value_input}) {
        const LinearSizes sizes{tokens(i), features, features};
        const Rows y = part(projected_grad, i);
        modules::linear_weight_gradient(sizes, in(i), y, weight_grad(i), bias_grad(i));
        int first = 0;
        while (!same(first, i)) first++;
        modules::linear_input_gradient(sizes, y, weight(i), out(first), first != i);
    }
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions &options)
    : state_(std::make_unique<State>(options)) {}
MultiHeadAttention::~MultiHeadAttention() = default;
MultiHeadAttention::MultiHeadAttention(MultiHeadAttention &&) noexcept = default;
MultiHeadAttention &MultiHeadAttention::operator=(MultiHeadAttention &&) noexcept = default;

const MultiHeadAttentionOptions &MultiHeadAttention::options() const { return state_->options; }
const std::vector<Parameter> &MultiHeadAttention::parameters() { return state_->parameters; }
const std::vector<float> &MultiHeadAttention::attention() const { return state_->probabilities; }

void MultiHeadAttention::forward(gyre_context *context, const gyre_tensor &query, const gyre_tensor &key,
                                 const gyre_tensor &value, const gyre_tensor &out, const gyre_tensor *mask) {
    State &s = *state_;
    s.take_inputs(query, key, value);
    check_tensor("out", out, Extents(std::vector<std::int64_t>(query.shape, query.shape + 3)));
    s.take_mask(mask);
    s.project();
    s.prepare_call();
    gyre::attention(context, s.call);
    modules::linear({s.tokens(query_input), s.features, s.features}, {s.mixed.data(), s.features},
                    s.weight(output_projection), s.bias(output_projection),
                    {static_cast<float *>(out.data), s.features});
    s.probabilities.clear();
    if (s.options.save_attention) s.probabilities = modules::attention_probabilities(context, s.call);
    s.has_run = true;
}

void MultiHeadAttention::backward(gyre_context *context, const gyre_tensor &out_grad, const gyre_tensor &query_grad,
                                  const gyre_tensor *key_grad, const gyre_tensor *value_grad) {
    State &s = *state_;
    if (!s.has_run) throw Error(GYRE_BAD_ARGUMENT, "backward: there was no forward pass");
    const auto shape_of = [](const gyre_tensor &t) { return Extents(std::vector<std::int64_t>(t.shape, t.shape + 3)); };
    check_tensor("out_grad", out_grad, shape_of(s.inputs[query_input]));
    check_tensor("query_grad", query_grad, shape_of(s.inputs[query_input]));
    const gyre_tensor *const grads[3] = {&query_grad, key_grad, value_grad};
    const char *const names[3] = {"query_grad", "key_grad", "value_grad"};
    for (int i : {key_input, value_input}) {
        const bool shared = s.same(query_input, i) || (i == value_input && s.same(key_input, i));
        if (shared != (grads[i] == nullptr))
            throw Error(GYRE_BAD_ARGUMENT,
                        std::string(names[i]) + (shared ? ": expected NULL, as this input is also one before it"
                                                        : ": got NULL, expected a tensor"));
        if (grads[i]) check_tensor(names[i], *grads[i], shape_of(s.inputs[i]));
    }

    AttentionBackwardArgs args(s.call);
    s.mixed_grad.resize(s.mixed.size());
    s.projected_grad.resize(s.projected.size());
    const LinearSizes sizes{s.tokens(query_input), s.features, s.features};
    const ConstRows out_grad_rows(static_cast<const float *>(out_grad.data), s.features);
    modules::linear_input_gradient(sizes, out_grad_rows, s.weight(output_projection), {s.mixed_grad.data(), s.features},
                                   false);
    args.out_grad = s.by_heads({s.mixed_grad.data(), s.features}, s.rows);
    args.q_grad = s.part_by_heads(s.projected_grad, query_input);
    args.k_grad = s.part_by_heads(s.projected_grad, key_input);
    args.v_grad = s.part_by_heads(s.projected_grad, value_input);
    gyre::backward(context, args);
    modules::linear_weight_gradient(sizes, {s.mixed.data(), s.features}, out_grad_rows,
                                    s.weight_grad(output_projection), s.bias_grad(output_projection));
    s.project_back(grads);
}

} // namespace v0
} // namespace gyre
