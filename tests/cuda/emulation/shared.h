// The shared memory of the block that runs, and who touched what since the last barrier.
#pragma once
#include <cstddef>

namespace gyre::emulation {

/// Begins a new block.
void begin_shared(size_t bytes);

/// At a barrier: what was written before it may be read after it.
void next_epoch();

/// Notes that the running thread has written bytes now, by a copy that was allowed before.
void mark_arrived(const void *memory, size_t bytes);

/// Between these, bytes that may be read and written have not arrived.
void mark_pending(const void *memory, size_t bytes, bool pending);

} // namespace gyre::emulation
