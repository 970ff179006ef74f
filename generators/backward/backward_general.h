/// What the general family of attention's gradients adds: bias and its gradient, dropout, and the cap where there is one: WHAT is
/// computed.
#pragma once
#include "backward_scores.h"

#include <functional>

namespace gyre::backward {

/// Defines `biases`, `draws` and `keep`.
void define_general_parts(Stages &s, const Inputs &in);

/// D P, scale dS and dS before cap and scale, before masking.
Halide::Tuple general_weights(const Stages &s, const Inputs &in, const Pair &of);

/// Adds to `bias_grad`, of whose elements each is of in.key_sums keys and in.row_sums rows. `score_grad`: dS before cap and scale of a key
/// and a row.
void define_bias_grad(Stages &s, const Inputs &in, const Halide::Func &bias_grad,
                      const std::function<Halide::Expr(const Halide::Expr &, const Halide::Expr &)> &score_grad);

} // namespace gyre::backward
