// Asynchronous copies into shared memory, by thread.
#pragma once
#include <cstddef>

namespace gyre::emulation {

/// Begins a new block of so many threads.
void begin_copies(size_t threads);

} // namespace gyre::emulation
