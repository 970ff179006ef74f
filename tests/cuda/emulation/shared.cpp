#include "shared.h"

#include "block.h"

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

constexpr size_t product_bytes = 16; // that a product reads at once

std::vector<unsigned char> memory;
std::vector<Byte> bytes_of;
int epoch = 0;

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
    bytes_of.assign(bytes, Byte());
    epoch++;
}

void next_epoch() { epoch++; }

unsigned char *shared_memory() { return memory.data(); }

bool may_read(const void *at, size_t count) {
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
    check(at, count, [](Byte &b) { write_now(b, block->thread); });
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
        b.reader = b.read == epoch && b.reader != block->thread ? nullptr : block->thread;
        b.read = epoch;
    });
}

} // namespace gyre::emulation
