// Rings of shared memory that some warps of a block fill and others read, for this machine: the same names as
// generators/passes/cuda/device/gyre_rings.h has for nvcc.
#pragma once
#include "gyre_device.h"
#include "rings.h"

template <int Count>
GYRE_FN void gyre_fewer_registers() {
    static_assert(Count % 8 == 0 && Count >= 24 && Count <= 256, "what PTX ISA takes");
}
template <int Count>
GYRE_FN void gyre_more_registers() {
    static_assert(Count % 8 == 0 && Count >= 24 && Count <= 256, "what PTX ISA takes");
}

template <int Threads>
GYRE_FN void gyre_sync_of() {
    gyre::emulation::any_of_first(Threads, false);
}
template <int Threads>
GYRE_FN int gyre_sync_or_of(bool condition) {
    return gyre::emulation::any_of_first(Threads, condition);
}

template <int Slots>
GYRE_FN const void *gyre_ring_word(const uint64_t *words, int ring, int turn, int emptied) {
    return words + (ring * Slots + (unsigned)turn % Slots) * 2 + emptied;
}

template <int Slots>
GYRE_FN void gyre_rings_begin(const uint64_t *words, int filling_threads, int reading_warps) {
    if (GYRE_THREAD_Y == 0 && GYRE_THREAD_X == 0)
        for (int i = 0; i < 2 * Slots; i++)
            gyre::emulation::begin_word(words + i, i % 2 ? reading_warps : filling_threads);
    GYRE_SYNC();
}

template <int Slots>
GYRE_FN void gyre_ring_filled(const uint64_t *words, int ring, int turn) {
    gyre_fence_async_proxy();
    gyre::emulation::arrive_at(gyre_ring_word<Slots>(words, ring, turn, 0));
}
template <int Slots>
GYRE_FN void gyre_ring_filling(const uint64_t *words, int ring, int turn, int rings) {
    gyre_copies_commit();
    if (ring == 0 && turn == 0) return;
    gyre_copies_wait<1>();
    gyre_ring_filled<Slots>(words, ring ? ring - 1 : rings - 1, ring ? turn : turn - 1);
}
template <int Slots>
GYRE_FN void gyre_rings_end(const uint64_t *words, int turns, int rings) {
    gyre_copies_wait<0>();
    if (turns > 0) gyre_ring_filled<Slots>(words, rings - 1, turns - 1);
}
template <int Slots>
GYRE_FN void gyre_ring_wait_filled(const uint64_t *words, int ring, int turn) {
    gyre::emulation::wait_at(gyre_ring_word<Slots>(words, ring, turn, 0), (unsigned)turn / Slots % 2);
}
template <int Slots>
GYRE_FN void gyre_ring_emptied(const uint64_t *words, int ring, int turn) {
    const void *const word = gyre_ring_word<Slots>(words, ring, turn, 1);
    gyre::emulation::with_warp(&word, nullptr, gyre::emulation::arrive_with_warp);
}
template <int Slots>
GYRE_FN void gyre_ring_wait_emptied(const uint64_t *words, int ring, int turn) {
    gyre::emulation::wait_at(gyre_ring_word<Slots>(words, ring, turn, 1), (unsigned)turn / Slots % 2);
}
