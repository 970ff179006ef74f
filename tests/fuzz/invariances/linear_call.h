/// Calls of linear attention over problems, of which it reads numbers, lengths, rope and positions.
#pragma once
#include "present.h"

namespace gyre::fuzz {

/// What keys come to: [batch, kv heads, head_dim, v_head_dim] and [batch, kv heads, head_dim].
struct LinearState {
    std::vector<double> kv, k;
};

struct LinearResult {
    std::string wrong, kernel;
    test::Dense out;
    LinearState after;
};

LinearResult run_linear(gyre_context *context, const Problem &p, bool causal, const LinearState *before = nullptr,
                        const Presentation &as = {});

/// What is allowed between a result and the exact one, of a call without a state before it: bounds of sums, as bounds.h has them.
///     |sum_j <R phi(q), R phi(k_j)> v_j| <= |phi(q)| sum_j |phi(k_j)| max |v|
struct AllowedLinear {
    std::vector<double> out;
    LinearState after;
};
AllowedLinear allowed_linear(const Problem &p, bool causal, const LinearResult &r);

} // namespace gyre::fuzz
