/// Warps of a block that only copy: they fill the rings of a staged loop (staged_loop.h), while the warps that the schedule names compute.
///
///     copying warps      for each turn: wait until the slot was emptied, begin to fill it, say that it is filled when the copies have arrived
///     computing warps    for each turn: wait until the slot is filled, read it, say that it was emptied
///
/// Nobody waits for a barrier of the whole block in a turn: warpgroups are turns apart, and one multiplies while another weighs its scores.
/// A slot of a ring has two words of shared memory that count who has come (mbarrier of PTX ISA, device/gyre_rings.h).
#pragma once
#include "staged_loop.h"

#include <map>

namespace gyre::cuda {

/// A slot of a ring is read from where the first Func is produced until the last one was.
struct RingReaders {
    std::string first, last;
};

struct CopyingWarps {
    int count = 0;                              // 0: all warps compute, and copy
    std::map<std::string, RingReaders> readers; // of rings, by the Func that fills them
};

/// Registers of a thread where a block of so many warps has a multiprocessor for itself: copying ones need few, the others get what is left.
constexpr int copying_registers = 40;
int computing_registers(int computing, int copying);

/// The rings of a loop: their shared memory, by name, and how many turns they hold.
struct Rings {
    std::vector<Staging> staging;
    int slots = 0;
};
constexpr char rings_memory[] = "gyre_rings";

/// The warp has begun to fill a slot: {slots, rings_memory, number of the ring, turns since the first, rings}; and will fill no more: {slots,
/// rings_memory, turns, rings}.
constexpr char filling_call[] = "gyre_ring_filling", end_filling_call[] = "gyre_rings_end";
/// Statements, each of {slots, rings_memory, number of the ring, turns since the first}.
constexpr char wait_filled_call[] = "gyre_ring_wait_filled", emptied_call[] = "gyre_ring_emptied",
               wait_emptied_call[] = "gyre_ring_wait_emptied";
/// {slots of all rings, rings_memory, threads that fill a slot, warps that empty it}: a barrier of the whole block.
constexpr char begin_rings_call[] = "gyre_rings_begin";
/// All computing threads wait for each other: {how many}.
constexpr char wait_for_computing_call[] = "gyre_sync_of";
/// The condition of what copying warps do instead of the rest: {computing warps, copying warps}.
constexpr char is_copying_warp[] = "gyre_is_copying_warp";

/// The body of a turn with what computing warps say about rings. `turn`: since the first.
Halide::Internal::Stmt wait_for_rings(const Halide::Internal::Stmt &body, const Rings &rings, const CopyingWarps &warps,
                                      const Halide::Expr &turn);

/// How a slot is filled, without asking whether a warp is one of those that the schedule fills by: copying warps are as many.
Halide::Internal::Stmt for_all_that_copy(const Halide::Internal::Stmt &fill);

/// What copying warps do of a thread's part of a kernel: `loop`, a staged loop of it, becomes `copies`, and all else is left out that those do not ask for.
Halide::Internal::Stmt for_copying_warps(const Halide::Internal::Stmt &body, const std::string &loop,
                                         const Halide::Internal::Stmt &copies, int computing);

} // namespace gyre::cuda
