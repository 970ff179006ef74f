/// Rounds of a transposition (math/lane_rounds.h) as shuffles.
#pragma once
#include <Halide.h>

namespace gyre {

/// Arranges that a round becomes one shuffle of two vectors where it is vectorised by its lanes, from 0 on. In any other loop it is what it says. Where there are
/// no rounds nothing changes.
void map_lane_rounds(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
