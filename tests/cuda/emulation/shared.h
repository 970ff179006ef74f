// The shared memory of the block that runs, and who touched what since the last barrier.
#pragma once
#include <cstddef>

namespace gyre::emulation {

/// Begins a new block.
void begin_shared(size_t bytes);

/// At a barrier: what was written before it may be read after it.
void next_epoch();
int current_epoch();

/// Notes that the running thread has written bytes now, by a copy that was allowed before.
void mark_arrived(const void *memory, size_t bytes);

/// Between these, bytes that may be read and written have not arrived.
void mark_pending(const void *memory, size_t bytes, bool pending);

/// fence.proxy.async by the running thread: what it has written before may be read by tensor cores after the next barrier.
void fence_for_tensor_cores();

/// Where 16 bytes are that a warpgroup's product begins to read, at their place in shared memory; nullptr: that is none. A violation unless
/// they were written, fenced by their writer, and then a barrier came Until end_product() nobody may write there.
const unsigned char *begin_product(size_t place);
void end_product(size_t place);

} // namespace gyre::emulation
