/// How far two calls' results may be apart, by bounds of what is added up in them: no score or weight is computed here.
///
///     |S_ij| <= |scale| |q_i| max |k_j| + max |bias| + |slope| distance + |sink|          of all keys of the head
///     sum_j P_ij |v_j| <= max_j |v_j|           with value_rope, of pairs
/// The allowances are those of the comparisons with definitions (tests/support), over these bounds instead of exact sums.
#pragma once
#include "present.h"

namespace gyre::fuzz {

/// What is allowed between a result and the exact one, element by element.
struct Allowed {
    std::vector<double> out, lse;
};

Allowed allowed_of(const Problem &p, const AttentionResult &r, double roundings_of_score = 8);

/// The largest |number| that each element of out can be a mean of: [batch, seqlen_q, heads, v_head_dim].
test::Dense largest_values(const Problem &p);

/// What is allowed of gradients. `columns`: for keys and values, sum_i P_ij |do_i| |q_i| and sum_i P_ij |do_i|, each as the
/// gradient of values of which it is; see gradient_relations.cpp.
struct AllowedGradients {
    std::vector<double> q, k, v;
};
AllowedGradients allowed_gradients(const Problem &p, const Gradients &g, const test::Dense &out_grad,
                                   const test::Dense &columns_of_keys, const test::Dense &columns_of_values);

/// What results may differ by where one of two is rounded among subnormal numbers, or is taken for 0 there.
inline double smallest_of(gyre_dtype dtype) { return dtype == GYRE_F16 ? 0x1p-24 : 0x1p-125; }

/// "out: element 3 …" of the worst that is further apart than both allow; empty: none is.
std::string compare(const char *name, const std::vector<double> &got, const std::vector<double> &expected,
                    std::vector<double> allowed, const std::vector<double> &also_allowed, gyre_dtype dtype);

} // namespace gyre::fuzz
