/// Operations that have a meaning on the device only: what generators may call, and the device header defines.
#pragma once
#include <Halide.h>

namespace gyre::cuda {

/// cos and sin of pi x, f32, |error| below 2e-7 for |x| <= 1.
Halide::Expr cos_pi(const Halide::Expr &x);
Halide::Expr sin_pi(const Halide::Expr &x);

/// 2^x in f32, relative error below 2^-22; subnormal results become 0.
Halide::Expr exp2_approx(const Halide::Expr &x);

/// The logarithm to base 2 of a positive number in f32, absolute error below 2^-22 times 1 + |result|.
Halide::Expr log2_approx(const Halide::Expr &x);

/// 1 / x in f32, relative error below 2^-22; 0 for what is infinite.
Halide::Expr reciprocal_approx(const Halide::Expr &x);

/// Floor of a / b and what is left, of numbers that are not negative; Halide does not look into them.
Halide::Expr opaque_quotient(const Halide::Expr &a, const Halide::Expr &b);
Halide::Expr opaque_remainder(const Halide::Expr &a, const Halide::Expr &b);

/// `yes` where the condition holds, else `no`, of which only the one that is asked for is evaluated: it may read memory that
/// the other case does not have.
Halide::Expr choose(const Halide::Expr &condition, const Halide::Expr &yes, const Halide::Expr &no);

/// select() that Halide does not look into: it would split a loop over a range in which nothing changes, and a warp's tile with it.
Halide::Expr opaque_select(const Halide::Expr &condition, const Halide::Expr &yes, const Halide::Expr &no);

/// 1 if any number of a tile in shared memory, of 16 bits or f32, of `columns` neighbours in each of `rows` rows, is an infinity or NaN, else 0. All
/// threads of a block ask together, and get the same. `first`, `below`: the tile's first element and the one in the next row.
Halide::Expr any_not_finite(const Halide::Expr &first, const Halide::Expr &below, int rows, int columns, int warps);
constexpr char not_finite_tile[] = "gyre_any_not_finite";

/// weight * value, but nothing where the value is not `seen`, whatever it is; and where it is, an infinity or NaN for a value that
/// is one, whatever the weight is. What a warp_product adds up; weights and values are as there.
Halide::Expr product_of_seen(const Halide::Expr &weight, const Halide::Expr &value, const Halide::Expr &seen);
constexpr char seen_product[] = "gyre_product_of_seen";

/// old * factor, of a tile and what is one number a row. A warp whose factors are all 1 does not multiply.
Halide::Expr rescaled(const Halide::Expr &old, const Halide::Expr &factor);
constexpr char rescaled_value[] = "gyre_rescaled";

/// A value that is stored `distance` elements further on, and only where the condition holds: at a place that the device alone
/// knows. Of the last operation of what is stored into memory; the same for all lanes of a vector.
Halide::Expr placed(const Halide::Expr &value, const Halide::Expr &distance, const Halide::Expr &condition);
constexpr char placed_value[] = "gyre_placed";

} // namespace gyre::cuda
