/// Tiles of rows that lie along the lanes of a few vectors: of the last tile, which may have fewer rows, those vectors alone that have one.
#pragma once
#include <Halide.h>

#include <set>
#include <string>
#include <utility>

namespace gyre {

/// Sums of multiply-adds that do not wait for each other: two a cycle begin, and each takes four.
constexpr int busy_sums = 8;

struct RowTiles {
    Halide::Func of;            // whose loop `tile` is over tiles, counted from 0
    std::string tile;           // the loop
    Halide::Expr rows, of_tile; // of all tiles; of each but the last, as many as `vectors` hold or fewer whole vectors
    int vectors = 1, lanes = 1; // of a tile
    int least_sums = 1;         // turns that form a register tile of fewer vectors of sums are taken together
    /// Loops over a tile's vectors, {Func, variable}, to be unrolled: what surrounds them is copied for each number of vectors.
    std::set<std::pair<std::string, std::string>> unrolled;
    /// Other loops over a tile's vectors or rows end with its last; variables.
    std::set<std::string> ended;
};

/// Arranges that once the pipeline is lowered. What is formed of a tile's rows must not be read for those that are not there. Stops the
/// build if nothing is unrolled.
void end_short_tiles(Halide::Internal::GeneratorBase &generator, const RowTiles &tiles);

} // namespace gyre
