/// One lane of a vector expression.
#pragma once
#include <Halide.h>

namespace gyre::cuda {

/// The scalar in lane `lane` of `vector`; a scalar is itself. A vector variable `v` is taken to be an array: v[lane].
Halide::Expr lane_of(const Halide::Expr &vector, int lane);

/// The index of the first element if the index is that of neighbours in memory; undefined if not.
Halide::Expr first_of_dense(const Halide::Expr &index);

} // namespace gyre::cuda
