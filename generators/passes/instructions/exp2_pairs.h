/// Powers of two in 16-bit integers, two a lane: what a softmax needs before a product in bf16.
#pragma once
#include <Halide.h>

namespace gyre {

/// Powers are less by this: those of numbers around 0 are just below 1, where bf16 numbers are twice as dense as just above.
constexpr float exp2_pair_shift = 0.078125f;

/// 2^(first - shift) and 2^(second - shift) as a pair of bf16 numbers (bf16_pairs.h), for numbers in (-62, 63); relative error
/// below 0.5 %, nine tenths of it the rounding to bf16. The pipeline needs map_exp2_pairs().
///
/// Both become numbers in 7.9 fixed point side by side. An integer part is a bf16 exponent; what 2^f of a fraction f differs
/// from 1 + f by is a cubic in 16-bit products.
Halide::Expr exp2_pair(const Halide::Expr &first, const Halide::Expr &second);

/// The form that exp2_pair() gives its numbers: a number times exp2_pair_unit, plus exp2_pair_offset(0) for the first and (1) for the second.
constexpr float exp2_pair_unit = 512;
float exp2_pair_offset(int which);

/// exp2_pair() of numbers in that form, for callers that form them in operations of their own.
Halide::Expr exp2_pair_of_units(const Halide::Expr &first, const Halide::Expr &second);

/// A number in that form, or what stands for -63 + shift if it is less.
Halide::Expr exp2_pair_at_least(const Halide::Expr &number, int which);

/// Arranges that lanes of 32 bits are taken as twice as many lanes of 16 bits once the pipeline is vectorised.
void map_exp2_pairs(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
