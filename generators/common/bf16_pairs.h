/// Two bf16 numbers in 32 bits, the first in the low half: neighbours along the inner dimension of a matrix product, in
/// the order in which matrix tiles take them.
#pragma once
#include <Halide.h>

namespace gyre {

/// The bits of two f32 numbers rounded to bf16, nearest even.
Halide::Expr bf16_pair(const Halide::Expr &first, const Halide::Expr &second);

/// The same for finite numbers >= 0, in half the operations: nearest, ties away from 0.
Halide::Expr bf16_pair_nonnegative(const Halide::Expr &first, const Halide::Expr &second);

/// The f32 value of the first (which = 0) or second (which = 1) number of a pair.
Halide::Expr bf16_of_pair(const Halide::Expr &pair, const Halide::Expr &which);

} // namespace gyre
