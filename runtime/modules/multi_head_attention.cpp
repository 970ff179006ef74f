#include "multi_head_attention_state.h"

#include "saved_attention.h"
#include "tensor_checks.h"

namespace gyre {
inline namespace v0 {

using modules::check_tensor;
using modules::ConstRows;
using modules::LinearSizes;

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions &options)
    : state_(std::make_unique<State>(options)) {}
MultiHeadAttention::~MultiHeadAttention() = default;
MultiHeadAttention::MultiHeadAttention(MultiHeadAttention &&) noexcept = default;
MultiHeadAttention &MultiHeadAttention::operator=(MultiHeadAttention &&) noexcept = default;

const MultiHeadAttentionOptions &MultiHeadAttention::options() const { return state_->options; }
const std::vector<Parameter> &MultiHeadAttention::parameters() { return state_->parameters; }
const std::vector<float> &MultiHeadAttention::attention() const { return state_->probabilities; }

void MultiHeadAttention::train(bool on) { state_->is_training = on; }
std::uint32_t MultiHeadAttention::dropout_offset() const { return state_->dropout_offset; }
void MultiHeadAttention::set_dropout_offset(std::uint32_t passes) { state_->dropout_offset = passes; }

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
    gyre_tensor relative_bias_grad = {};
    if (s.relative.buckets > 0) {
        s.relative_bias_grad.resize(s.relative_bias.size());
        relative_bias_grad = view(s.relative_bias_grad, {s.options.heads, s.rows, s.keys});
        args.bias_grad = &relative_bias_grad;
    }
    gyre::backward(context, args);
    if (s.relative.buckets > 0)
        s.relative.add_gradient(s.relative_bias_grad, s.rows, s.keys, s.relative_table(s.gradients));
    modules::linear_weight_gradient(sizes, {s.mixed.data(), s.features}, out_grad_rows,
                                    s.weight_grad(output_projection), s.bias_grad(output_projection));
    s.project_back(grads);
}

} // namespace v0
} // namespace gyre
