#include "device_memory.h"

#include "block.h"
#include "rings.h"
#include "shared.h"
#include "threads.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gyre::emulation {
namespace {

/// Who touched a number last, and when: a time of rings.h, or between which barriers.
struct Touch {
    int block = -1; // nobody
    uint32_t thread = 0, when = 0;
};
struct Number {
    Touch written, read;
};

constexpr uintptr_t page_bytes = 1024, least_bytes = 2; // of a number
std::unordered_map<uintptr_t, std::vector<Number>> pages;
bool is_followed = true;

Number &number_at(const void *at) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    std::vector<Number> &page = pages[address / page_bytes];
    if (page.empty()) page.resize(page_bytes / least_bytes);
    return page[address % page_bytes / least_bytes];
}

Touch now() {
    const int grid = block->grid_x * block->grid_y;
    const int here = block->x + block->grid_x * block->y + grid * block->z;
    if (has_rings()) return {here, static_cast<uint32_t>(running_thread()), tick()};
    constexpr int most_x = 1024;
    return {here, static_cast<uint32_t>(block->thread->x + most_x * block->thread->y),
            static_cast<uint32_t>(current_epoch())};
}

/// Whether the running thread, which touches it now, does not know of what another did.
bool is_unknown(const Touch &t, const Touch &mine) {
    if (t.block < 0 || (t.block == mine.block && t.thread == mine.thread)) return false;
    if (t.block != mine.block) return true;
    return has_rings() ? known_times()[t.thread] < t.when : t.when == mine.when;
}

} // namespace

void begin_device_memory() { pages.clear(); }
void follow_device_memory(bool follows) { is_followed = follows; }

void read_device(const void *at) {
    if (!is_followed) return;
    Number &number = number_at(at);
    const Touch mine = now();
    if (is_unknown(number.written, mine))
        violation("device memory is read that another thread of the launch has written, which was not waited for");
    number.read = mine;
}

void write_device(const void *at, bool changes) {
    if (!is_followed) return;
    Number &number = number_at(at);
    const Touch mine = now();
    if (changes && is_unknown(number.written, mine))
        violation("device memory is written that another thread of the launch has written, which was not waited for");
    if (changes && is_unknown(number.read, mine))
        violation("device memory is written that another thread of the launch has read, which was not waited for");
    number.written = mine;
}

} // namespace gyre::emulation
