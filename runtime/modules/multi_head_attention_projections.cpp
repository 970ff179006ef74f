// The projections of queries, keys and values, and their gradients.
#include "multi_head_attention_state.h"

namespace gyre {
inline namespace v0 {
namespace {

using modules::ConstRows;
using modules::LinearSizes;

} // namespace

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

} // namespace v0
} // namespace gyre
