/// Two bf16 numbers in 32 bits, the first in the low half: neighbours along the inner dimension of a matrix product, in
/// the order in which matrix tiles take them.
///
/// An f32 number is the sum of three bf16 numbers: term 0 has its leading 8 bits, term 1 the next 8, term 2 the rest; an
/// f16 number is the sum of two. Of a product of two such sums, the product of terms a and b is below the leading one by
/// 8 (a + b) bits, and left out where that does not matter. Source: Henry, Tang and Heinecke (arXiv:1904.06376).
#pragma once
#include <Halide.h>

#include <utility>
#include <vector>

namespace gyre {

/// Two bf16 numbers, given as their bits, as a pair.
Halide::Expr pair_of_bits(const Halide::Expr &first, const Halide::Expr &second);

/// The bits of two f32 numbers rounded to bf16 (bf16_rounding.h).
Halide::Expr bf16_pair(const Halide::Expr &first, const Halide::Expr &second);

/// bf16_pair() for finite numbers >= 0, in half the operations. It rounds to nearest, ties away from 0.
Halide::Expr bf16_pair_nonnegative(const Halide::Expr &first, const Halide::Expr &second);

/// The f32 value of the first (which = 0) or second (which = 1) number of a pair.
Halide::Expr bf16_of_pair(const Halide::Expr &pair, const Halide::Expr &which);

/// A place among features that go in twos of vectors: those that are even in the first, those that are odd in the second.
struct PairsOfVectors {
    int lanes;

    Halide::Expr feature(const Halide::Expr &place) const;
    Halide::Expr place(const Halide::Expr &feature) const;
};

/// Term `n` of several of a finite number, as the bits of an f32 number whose low half is to be cut off. Term 0 is cut, which
/// cannot overflow; the others are rounded, ties away from 0, and what they leave is exact. Were they cut, too, all terms would have
/// the sign of the number, and the products that are left out would add up.
Halide::Expr bf16_term(const Halide::Expr &x, int n);

/// Term `n` of two numbers as a pair.
Halide::Expr bf16_pair_of_terms(const Halide::Expr &first, const Halide::Expr &second, int n);

/// The products (term of a, term of b) of two sums of `terms` terms with a + b <= `most`, the smallest first: sums of these are
/// rounded as what they are, and not as what they become.
std::vector<std::pair<int, int>> products_of_terms(int terms, int most);

} // namespace gyre
