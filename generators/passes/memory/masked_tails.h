/// Vectors of which the last lanes lie past the end of a row, taken by a masked load.
///
///     select(i + lane < end, row[min(i + lane, end - 1)], 0)          becomes
///     select(i + lane < end, row[i + lane] where i + lane < end, 0)
///
/// Places that are not dense are loaded one by one; with a predicate they are a vector, of which nothing past the end is read.
#pragma once
#include <Halide.h>

namespace gyre {

/// The fewest bits of an element that the target's masked loads and stores take: 32 on AVX2, 8 on AVX-512; 0: it has none.
int least_masked_bits(const Halide::Target &target);

/// Does so with loads in vectors of at least `bits` an element that are chosen by such a condition, of lanes in a row against one end.
Halide::Internal::Stmt mask_tails(const Halide::Internal::Stmt &body, int bits);

/// Arranges that once the pipeline is lowered.
void mask_tails(Halide::Internal::GeneratorBase &generator, int bits);

/// Does so with loads in vectors of at least `bits` an element that `production` forms of places bounded by a last one, min(i + lane, last). No
/// condition chooses among them: lanes past the last place become 0, and must count for nothing.
Halide::Internal::Stmt mask_bounded(const Halide::Internal::Stmt &production, int bits);

/// Arranges that for what `of` forms, once the pipeline is lowered.
void mask_bounded(Halide::Internal::GeneratorBase &generator, const Halide::Func &of, int bits);

} // namespace gyre
