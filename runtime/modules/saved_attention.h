/// The probabilities of an attention call.
#pragma once

#include <gyre/gyre.h>

#include <vector>

namespace gyre::modules {

/// What the call weighs values with but for dropout, [batch, heads, seqlen_q, seqlen_kv]: its own result for values that are
/// unit vectors, so that masks, rotations and biases are the call's by construction. For looking at: one pass over all keys
/// for every head_dim of them.
std::vector<float> attention_probabilities(gyre_context *context, const gyre_attention_args &call);

} // namespace gyre::modules
