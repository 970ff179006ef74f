/// Memory on a device in the order of streams, from pools of the library's own.
#pragma once
#include "cuda/driver/driver.h"

namespace gyre::cuda {

/// What a pool keeps of the memory that calls have given back: a device's default pool returns all of it to the system
/// whenever someone waits for a stream or event, and the next call pays for mapping it again.
constexpr uint64_t kept_bytes = uint64_t{64} << 20;

/// Queues an allocation on a device, whose context is current, for MemFreeAsync to end. Each context has a pool, made by its first
/// call and kept; where none can be made the default one serves. Thread-safe. Errors: the driver's; not_supported if it has no
/// memory in a stream's order.
Result allocate_in_order(const Driver &driver, Device device, Pointer *memory, size_t bytes, Stream stream);

} // namespace gyre::cuda
