/// Keeps what is masked out of the gradients, whatever it holds: WHAT is computed.
#pragma once
#include "backward_algorithm.h"

namespace gyre::backward {

/// s.guarded: 1 if some row of the block does not see some key, and a row of queries, of the output's gradient or of keys holds
/// NaN or infinity.
void define_guarded(Stages &s, const Inputs &in);

/// `x`, but 0 where it is multiplied by a weight of 0. By bits, for the compiler may take 0 times a number for 0.
Halide::Expr if_weighted(const Halide::Expr &weight, const Halide::Expr &x);

} // namespace gyre::backward
