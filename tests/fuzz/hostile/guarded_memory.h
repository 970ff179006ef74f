/// Memory between pages that cannot be touched: what reads or writes past either end is ended by the system, without a sanitizer.
#pragma once
#include <cstddef>
#include <cstdint>

namespace gyre::fuzz {

class GuardedMemory {
public:
    /// A multiple of 64 KiB, the largest page of any system, full of zeros.
    explicit GuardedMemory(size_t bytes);
    ~GuardedMemory();
    GuardedMemory(const GuardedMemory &) = delete;
    GuardedMemory &operator=(const GuardedMemory &) = delete;

    uint8_t *begin() const { return begin_; }
    uint8_t *end() const { return begin_ + bytes_; }
    size_t size() const { return bytes_; }
    /// Ends who writes from now on, too.
    void make_read_only();

private:
    uint8_t *begin_;
    size_t bytes_;
};

} // namespace gyre::fuzz
