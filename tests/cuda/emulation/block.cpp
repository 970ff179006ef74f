#include "block.h"

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

void run_grid(const Entry &entry, const Extents &grid, const Extents &threads, size_t shared_bytes, void **arguments) {
    for (int z = 0; z < grid.z; z++)
        for (int y = 0; y < grid.y; y++)
            for (int x = 0; x < grid.x; x++) {
                Block here{x, y, z, nullptr, grid.x, grid.y};
                block = &here;
                begin_shared(shared_bytes);
                if (entry.cooperative) {
                    run_threads(threads.x, threads.y, [&] { entry.call(arguments); });
                    continue;
                }
                for (int ty = 0; ty < threads.y; ty++)
                    for (int tx = 0; tx < threads.x; tx++) {
                        Thread thread{tx, ty};
                        here.thread = &thread;
                        entry.call(arguments);
                    }
            }
    block = nullptr;
}

} // namespace gyre::emulation
