/// Attention in double by its definition, one row at a time with every score at hand; reads the arguments of the C API.
///
///     S_ij = softcap(scale < R(i) q_i, R(j) k_j >) + bias_ij + slope (pos_k - pos_q)      -inf where masked
///     P = softmax over j, the sink in the denominator                lse_i = log sum_j exp S_ij      then dropout of P
///     first form    out_i = R(-i) sum_j P_ij R(j) v_j
///     second form   out_i = sum_j P_ij R(j - i) v_j
#pragma once
#include "dense.h"
#include "oracle_rotary.h"
#include "oracle_scores.h"

#include <gyre/gyre.h>

#include <vector>

namespace gyre::test {

struct OracleAttention {
    Dense out;                // as bshd; thd as one batch entry
    Dense magnitude, square;  // of each output, sums of |P v| and of its square; a rotation mixes those of a pair
    Dense visible;            // of each output, the sum of |v| of visible keys, with dropout; mixed as those are
    std::vector<double> lse;  // C order of the lse tensor
    std::vector<double> keys; // likewise: how many keys the row sees, with dropout
    std::vector<ScoreSize> score_size; // likewise
};

/// What gyre_attention() should write; with the score function that args.score names, by its definition.
OracleAttention oracle_attention(const gyre_attention_args &args, const OracleScore &score_function = {});

/// The output by the second form; value_rope must be given, with one axis and without tables.
Dense oracle_attention_second_form(const gyre_attention_args &args);

} // namespace gyre::test
