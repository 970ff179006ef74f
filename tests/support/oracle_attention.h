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

#include <cstdint>
#include <string>
#include <vector>

namespace gyre::test {

struct OracleAttention {
    Dense out;                // as bshd; thd as one batch entry
    std::vector<double> lse;  // C order of the lse tensor
    double largest_score = 0; // magnitude, of those that are visible
};

/// What gyre_attention() should write; with the score function that args.score names, by its definition.
OracleAttention oracle_attention(const gyre_attention_args &args, const OracleScore &score_function = {});

/// The same output by the second form; value_rope must be given, with one axis and without tables.
Dense oracle_attention_second_form(const gyre_attention_args &args);

/// |error| that f32 arithmetic may leave on normally distributed inputs: the bound that the project promises at unit
/// variance, and beyond it the rounding of scores that are larger than that.
double attention_tolerance(const OracleAttention &expected);

/// Half the spacing of the output's type at the largest element: what storing the exact result costs beyond that.
double output_rounding(const std::vector<double> &exact, gyre_dtype dtype);

/// |error| that this kernel may leave, where f32 arithmetic may leave `tolerance`: what storing costs and, of kernels
/// on matrix tiles, what rounding to bf16 on the way does.
struct AttentionAllowance {
    double out, lse;
};
AttentionAllowance attention_allowance(const OracleAttention &expected, gyre_dtype dtype, const std::string &kernel,
                                       double tolerance);

} // namespace gyre::test
