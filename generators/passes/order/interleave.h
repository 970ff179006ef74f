/// Products on matrix tiles and vector work that do not wait for each other, statement by statement in turn.
///
/// A processor takes some hundred instructions ahead of the oldest one that is not done, and a few dozen of those that wait:
/// too few to find vector work behind a run of tile products. Side by side in the code they run side by side.
#pragma once
#include <Halide.h>
#include <vector>

namespace gyre {

/// One statement that does what all of these do, each of which reads nothing that another one writes. Loops of constant
/// extent are unrolled. Of statements with tile products, mapped already (tile_products.h), the first one's tiles are stored
/// after some products of the others, since a tile that is stored right after its last product waits for it.
Halide::Internal::Stmt interleave(const std::vector<Halide::Internal::Stmt> &statements);

} // namespace gyre
