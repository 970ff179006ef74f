/// Squares of rows' norms in parts: of every norm_lanes-th feature.
#pragma once
#include <Halide.h>

#include <functional>

namespace gyre {

constexpr int norm_lanes = 16;

/// The bits of a number >= 0 keep the order of such numbers, and a NaN's are above all of them.
inline Halide::Expr ordered_bits(const Halide::Expr &x) { return Halide::reinterpret<uint32_t>(x); }

/// The sum, in f32, of the squares of features lane, lane + norm_lanes … of a row of `features`.
Halide::Expr sum_of_squares(const std::function<Halide::Expr(const Halide::Expr &feature)> &element,
                            const Halide::Expr &lane, int features);

} // namespace gyre
