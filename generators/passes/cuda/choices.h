/// Vectors that are stored by one of two ways, which the whole block of threads agrees on (choose() of primitives.h): each way becomes a store of its
/// own, with what only it needs.
#pragma once
#include <Halide.h>

namespace gyre::cuda {

Halide::Internal::Stmt part_choices(const Halide::Internal::Stmt &kernel);

} // namespace gyre::cuda
