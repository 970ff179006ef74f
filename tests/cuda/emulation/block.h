// A block of CUDA threads on this machine, as strict as it can be about what they share.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace gyre::emulation {

struct Thread {
    int x = 0, y = 0;
    std::vector<int> fences{}; // fence.proxy.async: between which barriers each was
};

/// The block that runs: only one does at a time.
struct Block {
    int x = 0, y = 0, z = 0;
    Thread *thread = nullptr;
    int grid_x = 1, grid_y = 1;
};
extern Block *block;

/// A kernel by its name.
struct Entry {
    Entry(const char *name, void (*call)(void **), bool cooperative);
    const char *name;
    void (*call)(void **);
    bool cooperative; // its threads wait for each other
    const Entry *next;
};
const Entry *find_entry(const std::string &name);

struct Extents {
    int x, y, z;
};

/// Runs all blocks of a grid, one after the other, in every other launch from the last one. Threads that wait for each other take turns, each up to its
/// next barrier.
void run_grid(const Entry &entry, const Extents &grid, const Extents &threads, size_t shared_bytes, void **arguments);

/// The block's shared memory, poisoned at its beginning.
unsigned char *shared_memory();

/// __syncthreads(). A violation if a thread of the block ends without reaching it.
void wait_for_block();

/// __syncthreads_or(): likewise, and whether any thread has brought true.
bool any_of_block(bool condition);

/// barrier.cta.sync and barrier.cta.red.or of the first `threads` threads of the block: likewise, of these.
bool any_of_first(size_t threads, bool condition);

/// Whether a thread may read or write these bytes of shared memory: they are inside, were written before they are read, and no
/// other thread has written (before a write: or read) them since the last barrier. If not, it is a violation.
bool may_read(const void *memory, size_t bytes);
bool may_write(const void *memory, size_t bytes);

/// Copies that arrive only when their thread has waited for them. Until then their bytes hold NaN and may not be read.
void copy_later(void *to, const void *from, size_t bytes);
void end_group_of_copies();
void wait_for_copies(int groups_left);

/// What the lanes of a warp do together: `act` is called once, when all 32 have come here, with what each brought. A
/// violation if a lane ends, or waits for its block, while others wait here, or comes here from another place of the kernel.
struct Lane {
    const void *in;
    void *out;
};
void with_warp(const void *in, void *out, void (*act)(const Lane (&lanes)[32]));

/// What a kernel did that a device would not forgive; counted, and named on the standard error stream.
void violation(const char *what);
long violations();

} // namespace gyre::emulation
