#include "guarded_memory.h"

#include <cstdlib>

#include <sys/mman.h>

namespace gyre::fuzz {
namespace {

constexpr size_t guard = 1 << 16;

} // namespace

GuardedMemory::GuardedMemory(size_t bytes) : bytes_(bytes) {
    void *all = mmap(nullptr, bytes + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    begin_ = static_cast<uint8_t *>(all) + guard;
    if (mprotect(begin_, bytes, PROT_READ | PROT_WRITE) != 0) std::abort();
}

GuardedMemory::~GuardedMemory() { munmap(begin_ - guard, bytes_ + 2 * guard); }

void GuardedMemory::make_read_only() {
    if (mprotect(begin_, bytes_, PROT_READ) != 0) std::abort();
}

} // namespace gyre::fuzz
