#include "shared.h"

#include "block.h"
#include "rings.h"
#include "threads.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gyre::emulation {
namespace {

/// A byte's last writer and reader, and between which barriers they were; what 98 KB have of these is gone through by every kernel, so
/// that they are small.
struct Byte {
    const Thread *writer = nullptr, *reader = nullptr; // no reader: several
    int written = -1, read = -1;
    unsigned fences = 0;         // of the writer's, before it was written
    unsigned short products = 0; // that read it now
    bool is_set = false, is_pending = false;
};

/// What is known of a byte in a block whose threads wait at words (rings.h): times that a thread knows of, or not.
struct Times {
    size_t writer = 0;
    uint32_t written = 0;
    uint32_t read[16] = {}; // by each warp
};

constexpr size_t product_bytes = 16; // that a product reads at once

std::vector<unsigned char> memory;
std::vector<Byte> bytes_of;
int epoch = 0;
constexpr size_t warp_lanes = 32;
std::vector<Times> times;
std::vector<std::vector<uint32_t>> fences_of; // when each thread fenced

Times &times_of(const Byte &b) {
    if (times.empty()) times.resize(bytes_of.size());
    return times[static_cast<size_t>(&b - bytes_of.data())];
}
size_t running_warp() { return running_thread() / warp_lanes; }

/// What the running thread knows of all lanes of each warp.
std::vector<uint32_t> known_of_warps() {
    std::vector<uint32_t> known(thread_count() / warp_lanes);
    const uint32_t *of_lanes = known_times();
    for (uint32_t &of_warp : known) {
        of_warp = *std::min_element(of_lanes, of_lanes + warp_lanes);
        of_lanes += warp_lanes;
    }
    return known;
}
bool is_unknown(const Times &t, const uint32_t *known) {
    return t.written && t.writer != running_thread() && known[t.writer] < t.written;
}

void write_now(Byte &b, const Thread *thread) {
    b.writer = thread;
    b.written = epoch;
    b.fences = static_cast<unsigned>(thread->fences.size());
}

template <typename Check>
bool check(const void *at, size_t count, const Check &each) {
    const auto *first = static_cast<const unsigned char *>(at);
    if (first < memory.data() || first + count > memory.data() + memory.size()) {
        violation("shared memory is accessed outside of what the launch asked for");
        return false;
    }
    Byte *const bytes = bytes_of.data() + (first - memory.data());
    for (size_t i = 0; i < count; i++) each(bytes[i]);
    return true;
}

} // namespace

void begin_shared(size_t bytes) {
    memory.assign(bytes, 0xff); // NaN in every type
    times.clear();
    fences_of.clear();
    bytes_of.assign(bytes, Byte());
    epoch++;
}

void next_epoch() { epoch++; }
int current_epoch() { return epoch; }

unsigned char *shared_memory() { return memory.data(); }

namespace {

bool may_read_with_rings(const void *at, size_t count) {
    const uint32_t now = tick(), *const known = known_times();
    const size_t warp = running_warp();
    return check(at, count, [&](Byte &b) {
        if (!b.is_set) violation("shared memory is read before it was written");
        if (b.is_pending) violation("shared memory is read before an asynchronous copy into it was waited for");
        Times &t = times_of(b);
        if (is_unknown(t, known))
            violation("shared memory is read that another thread has written, which was not waited for");
        t.read[warp] = now;
    });
}

bool may_write_with_rings(const void *at, size_t count) {
    const uint32_t now = tick();
    const std::vector<uint32_t> known_reads = known_of_warps();
    const uint32_t *const known = known_times();
    const size_t me = running_thread(), my_warp = running_warp();
    return check(at, count, [&](Byte &b) {
        if (b.is_pending) violation("shared memory is written while an asynchronous copy into it is under way");
        Times &t = times_of(b);
        if (is_unknown(t, known))
            violation("shared memory is written that another thread has written, which was not waited for");
        for (size_t warp = 0; warp < known_reads.size(); warp++)
            if (t.read[warp] > known_reads[warp] && warp != my_warp)
                violation("shared memory is written that another thread has read, which was not waited for");
        if (b.products) violation("shared memory is written while a product of a warpgroup reads it");
        t.writer = me;
        t.written = now;
        b.is_set = true;
    });
}

/// Whether the writer of what a product reads has fenced it before the product's warp knew of that.
bool is_fenced(const Times &t, const uint32_t *known) {
    if (fences_of.empty()) return false;
    const std::vector<uint32_t> &of = fences_of[t.writer];
    const auto next = std::upper_bound(of.begin(), of.end(), t.written);
    return next != of.end() && *next <= known[t.writer];
}

} // namespace

bool may_read(const void *at, size_t count) {
    if (has_rings()) return may_read_with_rings(at, count);
    const Thread *const me = block->thread;
    return check(at, count, [me](Byte &b) {
        if (!b.is_set) violation("shared memory is read before it was written");
        if (b.is_pending) violation("shared memory is read before an asynchronous copy into it was waited for");
        if (b.written == epoch && b.writer != me)
            violation("shared memory is read that another thread has written since the last barrier");
        // One reader is enough to catch a writer; a second one must not hide the first.
        if (b.read != epoch) {
            b.reader = me;
            b.read = epoch;
        } else if (b.reader != me) {
            b.reader = nullptr;
        }
    });
}

bool may_write(const void *at, size_t count) {
    if (has_rings()) return may_write_with_rings(at, count);
    const Thread *const me = block->thread;
    return check(at, count, [me](Byte &b) {
        if (b.is_pending) violation("shared memory is written while an asynchronous copy into it is under way");
        if (b.written == epoch && b.writer != me)
            violation("shared memory is written that another thread has written since the last barrier");
        if (b.read == epoch && b.reader != me)
            violation("shared memory is written that another thread has read since the last barrier");
        if (b.products) violation("shared memory is written while a product of a warpgroup reads it");
        write_now(b, me);
        b.is_set = true;
    });
}

void mark_arrived(const void *at, size_t count) {
    if (!has_rings()) {
        check(at, count, [](Byte &b) { write_now(b, block->thread); });
        return;
    }
    const uint32_t now = tick();
    check(at, count, [&](Byte &b) {
        times_of(b).writer = running_thread();
        times_of(b).written = now;
    });
}

void mark_pending(const void *at, size_t count, bool pending) {
    check(at, count, [&](Byte &b) { b.is_pending = pending; });
}

void fence_for_tensor_cores() {
    block->thread->fences.push_back(epoch);
    if (!has_rings()) return;
    fences_of.resize(thread_count());
    fences_of[running_thread()].push_back(tick());
}

const unsigned char *begin_product(size_t place) {
    const unsigned char *const at = memory.data() + place;
    const bool inside = check(at, product_bytes, [](Byte &b) {
        b.products++;
        if (!b.is_set) return violation("a product of a warpgroup reads shared memory before it was written");
        if (b.is_pending)
            violation("a product of a warpgroup reads shared memory before an asynchronous copy was waited for");
        if (has_rings()) {
            const Times &t = times_of(b);
            const uint32_t *const known = known_times();
            if (is_unknown(t, known))
                violation("a product of a warpgroup reads shared memory that was written, which was not waited for");
            if (!is_fenced(t, known)) violation("a product of a warpgroup reads shared memory that nobody has fenced");
            return;
        }
        if (b.written == epoch)
            violation("a product of a warpgroup reads shared memory that was written since the last barrier");
        const std::vector<int> &fences = b.writer->fences;
        if (b.fences >= fences.size() || fences[b.fences] == epoch)
            violation("a product of a warpgroup reads shared memory whose writer has not fenced it before a barrier");
    });
    return inside ? at : nullptr;
}

void end_product(size_t place) {
    check(memory.data() + place, product_bytes, [](Byte &b) {
        b.products--;
        if (has_rings()) times_of(b).read[running_warp()] = tick();
        b.reader = b.read == epoch && b.reader != block->thread ? nullptr : block->thread;
        b.read = epoch;
    });
}

} // namespace gyre::emulation
