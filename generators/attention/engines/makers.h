/// Makes each engine for a kernel that it takes. An engine's make.cpp has its function, and decides what the kernel gains by on its machine.
#pragma once
#include "attention/wanted.h"
#include "recurrence_engine.h"

namespace gyre::attention {

std::unique_ptr<RecurrenceEngine> make_tiles(const Wanted &w);
std::unique_ptr<RecurrenceEngine> make_bare(const Wanted &w);
std::unique_ptr<RecurrenceEngine> make_folded_pairs(const Wanted &w);
std::unique_ptr<RecurrenceEngine> make_key_lanes(const Wanted &w);
std::unique_ptr<RecurrenceEngine> make_matrices(const Wanted &w);
std::unique_ptr<RecurrenceEngine> make_folded(const Wanted &w);
std::unique_ptr<RecurrenceEngine> make_pairs(const Wanted &w);
std::unique_ptr<RecurrenceEngine> make_vectors(const Wanted &w);

/// The sizes that knobs and head size give an engine. A row tile has row_vectors times row_tiles vectors of rows.
Sizes common_sizes(const Wanted &w);
/// Those of an engine with rows along the lanes, whose products may end with any chunk of features.
Sizes sizes_of_rows(const Wanted &w);

/// True if a last row tile that is short is computed by copies of the loops, which was measured on x86 alone.
bool ends_at_last_rows(const Wanted &w);

} // namespace gyre::attention
