/// Linear attention and its gradients in double by their definition, every weight at hand: quadratic in the length.
///
///     A_ij = < R(i) phi(q_i), R(j) phi(k_j) >      B_ij = < phi(q_i), phi(k_j) >      phi(x) = elu(x) + 1
///     out_i = (sum_j A_ij v_j + R(i) phi(q_i) S) / (sum_j B_ij + phi(q_i) z)          S, z: the states before
///     S' = S + sum_j R(j) phi(k_j) v_j^T           z' = z + sum_j phi(k_j)
#pragma once
#include "dense.h"

#include <gyre/gyre.h>

#include <vector>

namespace gyre::test {

/// Numbers, and sums of the magnitudes of all that is added up for each: what relative errors are multiplied by.
struct OracleNumbers {
    std::vector<double> exact, magnitude;
};

struct OracleLinear {
    OracleNumbers out;      // [batch, seqlen_q, heads, v_head_dim]; thd as one batch entry
    OracleNumbers kv_state; // [sequences, kv heads, head_dim, v_head_dim]
    OracleNumbers k_state;  // [sequences, kv heads, head_dim]
};

/// What gyre_linear_attention() should write; states whether they are asked for or not.
OracleLinear oracle_linear(const gyre_linear_attention_args &args);

struct OracleLinearBackward {
    OracleNumbers q, k, v;           // as out, of the tensors' shapes
    OracleNumbers kv_state, k_state; // of the states before
};

/// What gyre_linear_attention_backward() should write; gradients of states whether they are asked for or not.
OracleLinearBackward oracle_linear_backward(const gyre_linear_attention_backward_args &args);

} // namespace gyre::test
