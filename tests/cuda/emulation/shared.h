// The shared memory of the block that runs, and who touched what since the last barrier.
#pragma once
#include <cstddef>

namespace gyre::emulation {

/// For a new block.
void begin_shared(size_t bytes);

/// At a barrier: what was written before it may be read after it.
void next_epoch();

} // namespace gyre::emulation
