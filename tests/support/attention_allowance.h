/// How far each number that gyre_attention() writes may be off, derived from what the kernel computes in.
///
/// Arithmetic in f32 leaves a relative error w_i in the weights of row i: a constant, and the spacing of f32 times the magnitudes
/// S_i that the row's scores are added up from. It costs out_i at most w_i sum_j P_ij |v_j|, and lse_i at most w_i.
/// A weight below 2^-126 becomes 0, which costs out_i at most this of the sum of its values.
/// Kernels that round weights or rotated operands for their products (KernelRounding) add the errors of these roundings: at most
/// the sum of all of them, and no more than some deviations of what independent roundings come to. So do kernels whose products
/// leave something out.
/// Their instructions also take numbers below 2^-126 for 0: at most a few of them for each key that is seen.
/// Storing adds half the spacing of the output's type at that element.
#pragma once
#include "kernel_facts.h"
#include "oracle_attention.h"

#include <gyre/gyre.h>

#include <vector>

namespace gyre::test {

/// What arithmetic in f32 may cost.
struct Arithmetic {
    /// Roundings of a score, each of half the spacing of S_i. A sum of d products that are all alike is rounded d times alike.
    double roundings_of_score = 8;
    /// > 0: each element of out, and half of what it may cost lse, whatever the inputs.
    double tolerance = 0;
};

/// |error| of each element, in the order of the oracle's.
struct AttentionAllowance {
    std::vector<double> out, lse;
};

AttentionAllowance attention_allowance(const OracleAttention &expected, const gyre_attention_args &args,
                                       const KernelRounding &kernel, const Arithmetic &arithmetic = {});

} // namespace gyre::test
