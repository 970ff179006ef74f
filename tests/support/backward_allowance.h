/// How far each number that gyre_attention_backward() writes may be off: errors of P, dP and sums in f32, and of the stored result
/// that delta is formed from, times the sums of magnitudes that the oracle keeps; and half the spacing of the type.
///
/// delta_i is <do_i, out_i> = sum_j P_ij dP_ij. Where the forward kernel rounds its weights, out_i is sum_j P_ij (1 + e_ij) v_j, and
/// delta_i is off by sum_j P_ij e_ij dP_ij, however small out_i is: terms may cancel, and their errors do not.
/// Nor do those of the rotated queries and keys that dS is multiplied by, where the forward kernel rounds these.
#pragma once
#include "oracle_backward.h"

#include <gyre/gyre.h>

#include <string>
#include <vector>

namespace gyre::test {

struct BackwardErrors {
    double weight = 0;   // relative, of weights
    double score = 0;    // relative, of scores
    double delta = 0;    // of what delta is formed from, in half spacings of its type
    double operands = 0; // relative, of weights that the forward kernel rounds for its products
    double rows = 0;     // relative, of rotated queries and keys that are rounded
};

/// `forward_kernel`: what wrote out and lse. Where it rounds what it has rotated, gradients are those of the rounded numbers. `kernel`:
/// what formed the gradients, which may round weights and their gradients for its products.
BackwardErrors backward_errors(const std::string &forward_kernel, const gyre_attention_args &forward,
                               const std::string &kernel = "");

/// |error| of each element, in the order of the oracle's.
std::vector<double> gradient_allowance(const OracleGradient &expected, const BackwardErrors &errors, gyre_dtype dtype);

/// The gradient of a bias of this shape: the sum over what it is repeated for.
OracleGradient bias_gradient(const OracleBackward &expected, std::vector<int64_t> shape);

} // namespace gyre::test
