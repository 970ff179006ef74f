/// The engines, and which kernel has which.
#pragma once
#include "engine.h"
#include "knobs.h"

namespace gyre::attention {

/// What a kernel is to be. Each field is a GeneratorParam of the same name, but for the last two and `knobs`, all of which are.
struct Wanted {
    int head_dim;
    bool padded, general, partial, dense, as_stored, value_blocks, formed, int8_cache, integer_scores;
    Halide::Type dtype;
    Knobs knobs; // with the number of lanes
    Halide::Target target;
    bool autoscheduled;
};

/// The first engine of the table that takes the kernel, with its provider of keys and values.
std::unique_ptr<Engine> make_engine(const Wanted &wanted);

/// True if matrix tiles multiply in a kernel: Wanted::target and autoscheduled tell.
bool has_matrix_tiles(const Halide::Target &target, bool autoscheduled);
/// True if row tiles with small scores do without a maximum. Few queries would read all keys once more for little.
bool may_be_bounded(const Wanted &wanted);

} // namespace gyre::attention
