/// How far each number that linear attention writes may be off: what relative errors of f32 arithmetic and of angles come to, and
/// half the spacing of the type.
#pragma once
#include "oracle_linear.h"

#include <gyre/gyre.h>

#include <vector>

namespace gyre::test {

/// Relative error of a call: what its terms are off by, and the rounding of sums over keys and features; of gradients, twice that.
double linear_error(const gyre_linear_attention_args &args);

/// |error| of each number, in the order of the oracle's.
std::vector<double> linear_allowance(const OracleNumbers &expected, gyre_dtype dtype, double relative);

} // namespace gyre::test
