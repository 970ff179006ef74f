/// Numbers that are sums of several bf16 numbers, their terms (math/bf16_pairs.h).
#pragma once
#include <Halide.h>
#include <utility>
#include <vector>

namespace gyre::attention {

/// The term that `p` counts of two numbers, as a pair; a number that is but one term is rounded.
Halide::Expr term_pair(const Halide::Expr &first, const Halide::Expr &second, const Halide::Expr &p, int terms);

/// The terms of both factors that product `n` takes.
std::pair<Halide::Expr, Halide::Expr> terms_of_product(const Halide::Expr &n,
                                                       const std::vector<std::pair<int, int>> &products);

} // namespace gyre::attention
