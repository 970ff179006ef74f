/// Device functions of kernels, loaded into a CUDA context by the first call that needs them there.
#pragma once
#include "cuda/driver/driver.h"
#include "gyre/gyre.h"

namespace gyre::cuda {

/// The function `entry` of a kernel's machine code in the current context, which may take `shared_bytes` of shared memory.
/// Loaded once a context; kept while the process lives. Thread-safe. `kernel` is its name in messages.
/// Errors: UNSUPPORTED (no code for this device, more shared memory than it has), OUT_OF_MEMORY, INTERNAL.
gyre_status find_function(const Driver &driver, const char *kernel, const void *image, const char *entry,
                          int shared_bytes, Function *function);

/// What tells the current context from others, also from one that is gone and had the same address.
unsigned long long current_context(const Driver &driver);

} // namespace gyre::cuda
