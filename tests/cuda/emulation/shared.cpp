#include "shared.h"

#include "block.h"

#include <cstdint>
#include <vector>

namespace gyre::emulation {
namespace {

/// The last that touched a byte: a thread, and between which barriers.
struct Touch {
    const Thread *thread = nullptr;
    long epoch = -1;
};
struct Byte {
    Touch written, read;
    bool is_set = false, is_pending = false;
    unsigned short products = 0; // that read it now
    size_t fences = 0;           // of the writer's, before it was written
};

constexpr size_t product_bytes = 16; // that a product reads at once

std::vector<unsigned char> memory;
std::vector<Byte> bytes_of;
long epoch = 0;

bool other_now(const Touch &touch) { return touch.epoch == epoch && touch.thread != block->thread; }

template <typename Check>
bool check(const void *at, size_t count, const Check &each) {
    const auto *first = static_cast<const unsigned char *>(at);
    if (first < memory.data() || first + count > memory.data() + memory.size()) {
        violation("shared memory is accessed outside of what the launch asked for");
        return false;
    }
    for (size_t i = 0; i < count; i++) each(bytes_of[static_cast<size_t>(first - memory.data()) + i]);
    return true;
}

} // namespace

void begin_shared(size_t bytes) {
    memory.assign(bytes, 0xff); // NaN in every type
    bytes_of.assign(bytes, Byte());
    epoch++;
}

void next_epoch() { epoch++; }

unsigned char *shared_memory() { return memory.data(); }

bool may_read(const void *at, size_t count) {
    return check(at, count, [](Byte &b) {
        if (!b.is_set) violation("shared memory is read before it was written");
        if (b.is_pending) violation("shared memory is read before an asynchronous copy into it was waited for");
        if (other_now(b.written))
            violation("shared memory is read that another thread has written since the last barrier");
        // One reader is enough to catch a writer; a second one must not hide the first.
        if (b.read.epoch != epoch)
            b.read = {block->thread, epoch};
        else if (b.read.thread != block->thread)
            b.read.thread = nullptr; // several
    });
}

bool may_write(const void *at, size_t count) {
    return check(at, count, [](Byte &b) {
        if (b.is_pending) violation("shared memory is written while an asynchronous copy into it is under way");
        if (other_now(b.written))
            violation("shared memory is written that another thread has written since the last barrier");
        if (other_now(b.read))
            violation("shared memory is written that another thread has read since the last barrier");
        if (b.products) violation("shared memory is written while a product of a warpgroup reads it");
        b.written = {block->thread, epoch};
        b.fences = block->thread->fences.size();
        b.is_set = true;
    });
}

void mark_arrived(const void *at, size_t count) {
    check(at, count, [](Byte &b) {
        b.written = {block->thread, epoch};
        b.fences = block->thread->fences.size();
    });
}

void mark_pending(const void *at, size_t count, bool pending) {
    check(at, count, [&](Byte &b) { b.is_pending = pending; });
}

void fence_for_tensor_cores() { block->thread->fences.push_back(epoch); }

const unsigned char *begin_product(size_t place) {
    const unsigned char *const at = memory.data() + place;
    const bool inside = check(at, product_bytes, [](Byte &b) {
        b.products++;
        if (!b.is_set) return violation("a product of a warpgroup reads shared memory before it was written");
        if (b.is_pending)
            violation("a product of a warpgroup reads shared memory before an asynchronous copy was waited for");
        if (b.written.epoch == epoch)
            violation("a product of a warpgroup reads shared memory that was written since the last barrier");
        const std::vector<long> &fences = b.written.thread->fences;
        if (b.fences >= fences.size() || fences[b.fences] == epoch)
            violation("a product of a warpgroup reads shared memory whose writer has not fenced it before a barrier");
    });
    return inside ? at : nullptr;
}

void end_product(size_t place) {
    check(memory.data() + place, product_bytes, [](Byte &b) {
        b.products--;
        b.read = {b.read.epoch == epoch && b.read.thread != block->thread ? nullptr : block->thread, epoch};
    });
}

} // namespace gyre::emulation
