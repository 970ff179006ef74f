// Arrays in device memory that a kernel writes, and who of a launch touched each number: blocks of threads know nothing of each other, and threads
// of a block what was before a barrier.
#pragma once
#include <cstddef>
#include <cstring>

namespace gyre::emulation {

/// A launch begins, which knows of everything that was written before.
void begin_device_memory();

/// Whether it is followed: it is, unless lists lead several blocks to one place.
void follow_device_memory(bool follows);

/// The running thread reads a number, or writes one. `changes`: it is another than was there. A violation if a thread has written it of whom this one
/// does not know, or is overwritten by another number that such a thread has read or written.
void read_device(const void *number);
void write_device(const void *number, bool changes);

} // namespace gyre::emulation

/// A number of such an array.
template <class T>
class gyre_written_number {
public:
    explicit gyre_written_number(T *at) : at(at) {}
    gyre_written_number(const gyre_written_number &) = default;
    operator T() const {
        gyre::emulation::read_device(at);
        return *at;
    }
    gyre_written_number &operator=(const T &value) {
        gyre::emulation::write_device(at, std::memcmp(at, &value, sizeof value) != 0);
        std::memcpy(at, &value, sizeof value);
        return *this;
    }
    gyre_written_number &operator=(const gyre_written_number &other) { return *this = static_cast<T>(other); }

private:
    T *at;
};

/// Such an array, as kernels have it instead of a pointer (watched.py).
template <class T>
struct gyre_written {
    T *first;
    gyre_written_number<T> operator[](int i) const { return gyre_written_number<T>(first + i); }
    gyre_written operator+(int i) const { return {first + i}; }
};
