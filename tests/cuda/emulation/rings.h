// Words of shared memory that count who has come (mbarrier of PTX ISA 8.0, section 9.7.13.15), and who knows what of whom: with such words threads
// are apart, and "since the last barrier" says nothing any more.
#pragma once
#include "block.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gyre::emulation {

/// Begins a block of so many threads.
void begin_rings(size_t threads);

/// A word, by its place in shared memory: each phase ends when so many have come.
void begin_word(const void *word, int count);
/// What the running thread, or its warp, has done so far happens before what follows a wait for this phase.
void arrive_at(const void *word);
/// Waits for the end of the phase of this parity.
void wait_at(const void *word, unsigned parity);
/// What a warp does together, by with_warp(): all of its lanes have done what they did so far. in: const void *const *, the word at which it arrives once.
void arrive_with_warp(const Lane (&lanes)[32]);

/// Whether a thread that waits at a word may go on.
struct WordWait {
    const void *word = nullptr;
    unsigned parity = 0;
    bool is_over() const;
};

/// Logical time, for blocks that have such words: of each thread, and what each knows of the others.
bool has_rings();
uint32_t tick();
uint32_t tick_of(size_t thread);
size_t thread_count();
const uint32_t *known_times();                 // of each thread, by the running one
void meet(const std::vector<size_t> &threads); // they know of each other what each knows

} // namespace gyre::emulation
