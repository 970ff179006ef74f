// A block of CUDA threads on this machine.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace gyre::emulation {

struct Thread {
    int x = 0, y = 0;
};

/// The block that runs: only one does at a time.
struct Block {
    int x = 0, y = 0, z = 0;
    Thread *thread = nullptr;
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

/// Runs all blocks of a grid, one after the other.
void run_grid(const Entry &entry, const Extents &grid, const Extents &threads, size_t shared_bytes, void **arguments);

/// What a kernel did that a device would not forgive; counted, and named on the standard error stream.
void violation(const char *what);
long violations();

} // namespace gyre::emulation
