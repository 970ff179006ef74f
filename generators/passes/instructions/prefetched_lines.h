/// Prefetches as lines of the cache.
#pragma once
#include <Halide.h>

namespace gyre {

constexpr int cache_line_bytes = 64;

/// Asks, as far as all caches, for the line of byte `byte` of the memory that the handle `memory` points at.
Halide::Internal::Stmt ask_for_line(const Halide::Expr &memory, const Halide::Expr &byte);

/// True unless all rows of `tensor`, `stride` elements apart, begin with a line.
Halide::Expr may_begin_within_lines(const Halide::OutputImageParam &tensor, const Halide::Expr &stride);

/// Makes each prefetch() of the generator's schedule ask for the lines of 64 bytes that it covers, without a loop where their
/// number is known. As Halide 21 lowers it, lines are as many, but 64 elements apart. To be called in generate().
void map_prefetches(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
