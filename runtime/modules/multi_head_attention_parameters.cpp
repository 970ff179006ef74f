// What options come to: checks, rotations, and the tensors that are learnt.
#include "multi_head_attention_state.h"

namespace gyre {
inline namespace v0 {
namespace {

/// Features of a head that a percentage comes to.
std::int32_t rotated_features(const char *name, double percentage, std::int32_t head_dim) {
    const double features = head_dim * percentage;
    if (!(percentage >= 0 && percentage <= 1) || static_cast<std::int32_t>(features) % 2 != 0)
        throw Error(GYRE_BAD_ARGUMENT, std::string(name) + ": got " + std::to_string(percentage) + " of " +
                                           std::to_string(head_dim) +
                                           " features, expected 0 to 1 and an even number of features");
    return static_cast<std::int32_t>(features);
}

} // namespace

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
    for (Rope *r : {&rope, &value_rope}) {
        r->pairing = o.pairing;
        r->theta = o.theta;
    }
    rope.rotary_dim = rotated_features("rope_percentage", o.rope_percentage, head_dim);
    value_rope.rotary_dim = rotated_features("rope_value_percentage", o.rope_value_percentage, head_dim);

    relative = {o.relative_buckets, o.heads, o.relative_max_distance, o.causal};
    const std::int32_t smallest = o.causal ? 2 : 4;
    const std::int32_t exact = o.relative_buckets / smallest;
    if (o.relative_buckets != 0 && (o.relative_buckets < smallest || (!o.causal && o.relative_buckets % 2 != 0) ||
                                    o.relative_max_distance <= exact))
        throw Error(GYRE_BAD_ARGUMENT,
                    "relative_buckets: got " + std::to_string(o.relative_buckets) + " up to distance " +
                        std::to_string(o.relative_max_distance) + ", expected at least " + std::to_string(smallest) +
                        (o.causal ? "" : ", an even number,") + " and a distance beyond " + std::to_string(exact));
    if (!(o.dropout >= 0 && static_cast<float>(o.dropout) < 1))
        throw Error(GYRE_BAD_ARGUMENT,
                    "dropout: got " + std::to_string(o.dropout) + ", expected a probability, 0 <= p < 1");

    values.resize(static_cast<std::size_t>(4 * features * (features + 1) + o.relative_buckets * o.heads));
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
    if (relative.buckets > 0)
        parameters.push_back({"relative_attention_bias.weight",
                              {relative.buckets, relative.heads},
                              relative_table(values),
                              relative_table(gradients)});
}

} // namespace v0
} // namespace gyre
