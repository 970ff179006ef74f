#include "block.h"

#include "device_memory.h"
#include "rings.h"
#include "shared.h"
#include "threads.h"

#include <cstdio>

namespace gyre::emulation {

Block *block = nullptr;

namespace {
const Entry *entries = nullptr;
long violation_count = 0;
} // namespace

Entry::Entry(const char *name, void (*call)(void **), bool cooperative)
    : name(name), call(call), cooperative(cooperative), next(entries) {
    entries = this;
}

const Entry *find_entry(const std::string &name) {
    for (const Entry *e = entries; e; e = e->next)
        if (name == e->name) return e;
    return nullptr;
}

void violation(const char *what) {
    if (violation_count++ < 5) std::fprintf(stderr, "emulated CUDA: %s\n", what);
}
long violations() { return violation_count; }

namespace {

/// Runs the threads of the block that is there, which do not wait for each other.
void run_apart(const Entry &entry, int x, int y, bool forwards, void **arguments) {
    begin_rings(0);
    for (int i = 0; i < x * y; i++) {
        const int at = forwards ? i : x * y - 1 - i;
        Thread thread{at % x, at / x};
        block->thread = &thread;
        entry.call(arguments);
    }
}

} // namespace

void run_grid(const Entry &entry, const Extents &grid, const Extents &threads, size_t shared_bytes, void **arguments) {
    static bool forwards = false; // no order of blocks is to be relied on
    forwards = !forwards;
    begin_device_memory();
    const int blocks = grid.x * grid.y * grid.z;
    for (int i = 0; i < blocks; i++) {
        const int at = forwards ? i : blocks - 1 - i;
        Block here{at % grid.x, at / grid.x % grid.y, at / grid.x / grid.y, nullptr, grid.x, grid.y};
        block = &here;
        begin_shared(shared_bytes);
        if (entry.cooperative)
            run_threads(threads.x, threads.y, [&] { entry.call(arguments); });
        else
            run_apart(entry, threads.x, threads.y, forwards, arguments);
    }
    block = nullptr;
}

} // namespace gyre::emulation
