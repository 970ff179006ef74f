/// Memory that begins with a line of the cache, as kernels that store past the caches want it.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace gyre::cli {

template <typename T>
struct LineAllocator {
    using value_type = T;
    static constexpr std::align_val_t line{64};

    LineAllocator() = default;
    template <typename U>
    LineAllocator(const LineAllocator<U> &) {}

    T *allocate(std::size_t count) { return static_cast<T *>(::operator new(count * sizeof(T), line)); }
    void deallocate(T *memory, std::size_t) { ::operator delete(memory, line); }
};

template <typename T, typename U>
bool operator==(const LineAllocator<T> &, const LineAllocator<U> &) {
    return true;
}
template <typename T, typename U>
bool operator!=(const LineAllocator<T> &, const LineAllocator<U> &) {
    return false;
}

using Lines = std::vector<std::byte, LineAllocator<std::byte>>;

} // namespace gyre::cli
