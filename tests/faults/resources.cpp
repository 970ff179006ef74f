#include "resources.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <dlfcn.h>
#include <pthread.h>

namespace {

std::atomic<long> remaining{-1}, live{0};
std::atomic<bool> failed{false}, without_threads{false};

bool fails() {
    if (remaining.load() < 0 || remaining.fetch_sub(1) != 0) return false;
    failed = true;
    return true;
}

void *allocate(std::size_t bytes) {
    void *block = fails() ? nullptr : std::malloc(bytes ? bytes : 1);
    if (block) live++;
    return block;
}

} // namespace

namespace gyre::test::resources {

void fail_allocation(long nth) {
    failed = false;
    remaining = nth;
}
bool allocation_failed() { return failed; }
void refuse_threads(bool refuse) { without_threads = refuse; }
long live_blocks() { return live; }

} // namespace gyre::test::resources

void *operator new(std::size_t bytes) {
    if (void *block = allocate(bytes)) return block;
    throw std::bad_alloc();
}
void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept { return allocate(bytes); }
void operator delete(void *block) noexcept {
    if (block) live--;
    std::free(block);
}
void operator delete(void *block, std::size_t) noexcept { operator delete(block); }

extern "C" void *aligned_alloc(std::size_t alignment, std::size_t bytes) {
    void *block = nullptr;
    return fails() || posix_memalign(&block, alignment, bytes) ? nullptr : block;
}

extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                              void *argument) {
    static const auto real = (decltype(&pthread_create))dlsym(RTLD_NEXT, "pthread_create");
    return without_threads ? EAGAIN : real(thread, attributes, run, argument);
}
