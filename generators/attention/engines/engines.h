/// The engines of the recurrence, and which kernel has which.
#pragma once
#include "attention/wanted.h"
#include "recurrence_engine.h"

namespace gyre::attention {

/// The first engine of the table that takes the kernel, with its provider of keys and values.
std::unique_ptr<RecurrenceEngine> make_engine(const Wanted &wanted);

/// True if matrix tiles multiply in a kernel: Wanted::target and autoscheduled tell.
bool has_matrix_tiles(const Halide::Target &target, bool autoscheduled);
/// True if a kernel is told how many vectors its row tiles have: those whose last one may be short.
bool is_told_tile_rows(const Wanted &wanted);
/// True if row tiles with small scores do without a maximum. Few queries would read all keys once more for little.
bool may_be_bounded(const Wanted &wanted);

} // namespace gyre::attention
