/// Powers of two in 16-bit integers, two a lane: what a softmax needs before a product in bf16.
#pragma once
#include <Halide.h>

namespace gyre {

/// 2^first and 2^second as a pair of bf16 numbers (bf16_pairs.h), for powers in (-126, 127); relative error below 0.5 %,
/// three quarters of it the rounding to bf16. The pipeline needs map_exp2_pairs().
///
/// Both powers become numbers in 8.8 fixed point side by side. An integer part is a bf16 exponent; 2^f - 1 of a fraction f
/// is a cubic in 16-bit products.
Halide::Expr exp2_pair(const Halide::Expr &first, const Halide::Expr &second);

/// Arranges that lanes of 32 bits are taken as twice as many lanes of 16 bits once the pipeline is vectorised.
void map_exp2_pairs(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
