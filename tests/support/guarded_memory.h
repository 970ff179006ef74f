/// Memory between pages that may not be read: an access beyond its last byte, or before its first one, is a fault, sanitizer or not.
#pragma once
#include <cstddef>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

namespace gyre::test {

class GuardedMemory {
public:
    /// Which end of the bytes the fault is at.
    enum class Bytes { at_end, at_begin };

    explicit GuardedMemory(size_t bytes, Bytes where = Bytes::at_end) {
        const auto page = (size_t)sysconf(_SC_PAGESIZE);
        const size_t used = (bytes + page - 1) / page * page;
        mapped_ = page + used + page;
        base_ = (char *)mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base_ == MAP_FAILED || mprotect(base_ + page, used, PROT_READ | PROT_WRITE)) throw std::bad_alloc();
        data_ = base_ + page + (where == Bytes::at_end ? used - bytes : 0);
    }
    ~GuardedMemory() { munmap(base_, mapped_); }
    GuardedMemory(const GuardedMemory &) = delete;
    GuardedMemory &operator=(const GuardedMemory &) = delete;

    char *data() const { return data_; }

private:
    char *base_, *data_;
    size_t mapped_;
};

} // namespace gyre::test
