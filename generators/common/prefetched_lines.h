/// Prefetches as lines of the cache.
#pragma once
#include <Halide.h>

namespace gyre {

/// Makes each prefetch() of the generator's schedule ask for the lines of 64 bytes that it covers, without a loop where their
/// number is known. As Halide 21 lowers it, lines are as many, but 64 elements apart. To be called in generate().
void map_prefetches(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
