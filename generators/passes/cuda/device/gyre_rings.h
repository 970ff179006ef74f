// Rings of shared memory that some warps of a block fill and others read, for nvcc and compute capability 9.0a. Each slot has two words (mbarrier of PTX
// ISA): one counts threads whose copies into it have arrived, the other warps that have read it. Included by gyre_warpgroup.h.
#pragma once

// Threads of the block from here on have fewer registers, or more: the others of the multiprocessor.
template <int Count>
GYRE_FN void gyre_fewer_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count>
GYRE_FN void gyre_more_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}

// The first threads of the block, so many, wait for each other.
template <int Threads>
GYRE_FN void gyre_sync_of() {
    asm volatile("barrier.cta.sync.aligned 1, %0;" ::"n"(Threads) : "memory");
}
// Likewise, and whether any has brought true.
template <int Threads>
GYRE_FN int gyre_sync_or_of(bool condition) {
    int any;
    asm volatile("{\n.reg .pred brought, found;\nsetp.ne.s32 brought, %1, 0;\n"
                 "barrier.cta.red.or.pred.aligned found, 1, %2, brought;\nselp.s32 %0, 1, 0, found;\n}"
                 : "=r"(any)
                 : "r"((int)condition), "n"(Threads)
                 : "memory");
    return any;
}

// Words of all slots, first those that are filled: counted from the slot's ring and turn.
template <int Slots>
GYRE_FN uint32_t gyre_ring_word(uint64_t *words, int ring, int turn, int emptied) {
    return gyre_shared_address(words + (ring * Slots + (unsigned)turn % Slots) * 2 + emptied);
}
GYRE_FN void gyre_ring_wait(uint32_t word, unsigned parity) {
    asm volatile(
        "{\n.reg .pred over;\nagain:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@over bra done;\nbra again;\ndone:\n}" ::"r"(word),
        "r"(parity)
        : "memory");
}

// Nobody has come yet. All threads of the block call it, and wait for each other.
template <int Slots>
GYRE_FN void gyre_rings_begin(uint64_t *words, int filling_threads, int reading_warps) {
    if (GYRE_THREAD_Y == 0 && GYRE_LANE == 0) {
        for (int i = 0; i < 2 * Slots; i++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(gyre_shared_address(words + i)),
                         "r"(i % 2 ? reading_warps : filling_threads)
                         : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    GYRE_SYNC();
}

template <int Slots>
GYRE_FN void gyre_ring_filled(uint64_t *words, int ring, int turn) {
    gyre_fence_async_proxy();
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(gyre_ring_word<Slots>(words, ring, turn, 0))
                 : "memory");
}
// The thread has begun its copies into a slot. Those into the slot before, of all rings in turn, have arrived then.
template <int Slots>
GYRE_FN void gyre_ring_filling(uint64_t *words, int ring, int turn, int rings) {
    gyre_copies_commit();
    if (ring == 0 && turn == 0) return;
    gyre_copies_wait<1>();
    gyre_ring_filled<Slots>(words, ring ? ring - 1 : rings - 1, ring ? turn : turn - 1);
}
// After so many turns: those into the last slot have arrived, too.
template <int Slots>
GYRE_FN void gyre_rings_end(uint64_t *words, int turns, int rings) {
    gyre_copies_wait<0>();
    if (turns > 0) gyre_ring_filled<Slots>(words, rings - 1, turns - 1);
}
// What was copied may be read afterwards, also by products of warpgroups.
template <int Slots>
GYRE_FN void gyre_ring_wait_filled(uint64_t *words, int ring, int turn) {
    gyre_ring_wait(gyre_ring_word<Slots>(words, ring, turn, 0), (unsigned)turn / Slots % 2);
}
// The warp has read the slot.
template <int Slots>
GYRE_FN void gyre_ring_emptied(uint64_t *words, int ring, int turn) {
    __syncwarp();
    if (GYRE_LANE == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(gyre_ring_word<Slots>(words, ring, turn, 1))
                     : "memory");
}
// Readers have said of all slots that they are empty before the first turn.
template <int Slots>
GYRE_FN void gyre_ring_wait_emptied(uint64_t *words, int ring, int turn) {
    gyre_ring_wait(gyre_ring_word<Slots>(words, ring, turn, 1), (unsigned)turn / Slots % 2);
}
