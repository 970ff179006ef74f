// Threads of a block that wait for each other: one fiber each, that run in turns.
#pragma once
#include "block.h"
#include "rings.h"

#include <cstddef>
#include <functional>

namespace gyre::emulation {

/// Runs `kernel` once a thread of x * y; it may call wait_for_block().
void run_threads(int x, int y, const std::function<void()> &kernel);

/// The thread that runs, counted from 0.
size_t running_thread();
Thread *thread_at(size_t thread);

/// The running thread waits at a word.
void wait_for_word(const WordWait &wait);

} // namespace gyre::emulation
