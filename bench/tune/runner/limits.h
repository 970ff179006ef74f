/// Bounds on what a library under test may take, for machines where nobody else watches over it.
#pragma once

#include <cstdint>

namespace gyre::tune {

/// Bounds this process from now on: it is ended by SIGALRM after so many seconds, by SIGXCPU after so many of all its threads
/// together, and refused memory beyond so many MiB. 0: no bound.
void limit_seconds(std::int64_t seconds, std::int64_t threads);
void limit_memory(std::int64_t mebibytes);

} // namespace gyre::tune
