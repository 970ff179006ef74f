// Threads of a block that wait for each other: one fiber each, that run in turns.
#pragma once
#include <functional>

namespace gyre::emulation {

/// Runs `kernel` once a thread of x * y; it may call wait_for_block().
void run_threads(int x, int y, const std::function<void()> &kernel);

} // namespace gyre::emulation
