/// Gradients of attention in double by their definition, one row at a time with every probability at hand.
///
///     dP_ij = <R(i) do_i, R(j) v_j>      dS_ij = P_ij (dP_ij - sum_m P_im dP_im) (1 - (S_ij / softcap)^2)
///     dq_i  = R(-i) scale sum_j dS_ij R(j) k_j      dk_j likewise      dv_j = R(-j) sum_i P_ij R(i) do_i
#pragma once
#include "oracle_scores.h"

#include <gyre/gyre.h>

namespace gyre::test {

///     with dropout, D_ij times P_ij in out and dv, and times <do, v>;    dbias = dS before cap and scale
/// A gradient, and what the errors of its computation are multiplied by: sums of the magnitudes of all that is added up.
struct OracleGradient {
    Dense exact;
    Dense by_weight;   // relative errors of P, dP and the sums
    Dense by_score;    // relative errors of scores: by_weight times what the row's scores are added up from
    Dense by_delta;    // the result, which delta is formed from: sums of half the spacing of its type at each element
    Dense by_operands; // relative errors of the weights that this result was formed with, and no others
    Dense by_rows;     // relative errors of the rotated queries and keys that dS is multiplied by
};

struct OracleBackward {
    OracleGradient q, k, v;
    OracleGradient scores; // with bias: of S, as [batch, heads, seqlen_q, seqlen_kv]
};

/// What gyre_attention_backward() should write for this forward call and gradient of its result.
OracleBackward oracle_backward(const gyre_attention_args &forward, const gyre_tensor &out_grad);

} // namespace gyre::test
