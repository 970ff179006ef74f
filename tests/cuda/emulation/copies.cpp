#include "copies.h"

#include "block.h"
#include "shared.h"
#include "threads.h"

#include <cstring>
#include <vector>

namespace gyre::emulation {
namespace {

struct Copy {
    void *to;
    const void *from;
    size_t bytes;
    int group;
};
struct OfThread {
    std::vector<Copy> pending;
    int group = 0;
};
std::vector<OfThread> threads;

} // namespace

void begin_copies(size_t count) { threads.assign(count, OfThread()); }

void copy_later(void *to, const void *from, size_t bytes) {
    if (!may_write(to, bytes)) return;
    std::memset(to, 0xff, bytes);
    mark_pending(to, bytes, true);
    OfThread &mine = threads[running_thread()];
    mine.pending.push_back({to, from, bytes, mine.group});
}

void end_group_of_copies() { threads[running_thread()].group++; }

void wait_for_copies(int groups_left) {
    OfThread &mine = threads[running_thread()];
    std::vector<Copy> later;
    for (const Copy &copy : mine.pending) {
        if (copy.group >= mine.group - groups_left) {
            later.push_back(copy);
            continue;
        }
        std::memcpy(copy.to, copy.from, copy.bytes);
        mark_pending(copy.to, copy.bytes, false);
        mark_arrived(copy.to, copy.bytes);
    }
    mine.pending = later;
}

} // namespace gyre::emulation
