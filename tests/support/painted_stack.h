/// Measures stacks: what lies below a frame is painted, and whatever runs next scratches the paint.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace gyre::test {

/// The part of this thread's stack below the frame of the function that makes it.
class PaintedStack {
public:
    /// `most`: bytes to watch.
    [[gnu::always_inline]] explicit PaintedStack(std::size_t most)
        : top(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))), bottom(lowest(top, most)) {
        paint(bottom);
    }

    /// Bytes from the frame to the deepest scratch; where nothing is left of the paint, all that is watched.
    std::size_t used() const {
        std::uintptr_t at = bottom;
        while (at < top && *reinterpret_cast<const volatile std::uintptr_t *>(at) == colour) at += sizeof at;
        return top - at;
    }

private:
    static constexpr std::uintptr_t colour = 0xa5c3a5c3u;
    static constexpr std::size_t own_frames = 512; // of paint() and what calls it
    const std::uintptr_t top, bottom;

    /// The lowest address that the thread's stack reaches, with room left for the painter.
    [[gnu::noinline]] static std::uintptr_t lowest(std::uintptr_t top, std::size_t most) {
        static thread_local std::uintptr_t end = 0; // finding it takes long
        if (!end) {
            pthread_attr_t attributes;
            void *begin = nullptr;
            std::size_t size = 0;
            if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
                pthread_attr_getstack(&attributes, &begin, &size);
                pthread_attr_destroy(&attributes);
            }
            end = reinterpret_cast<std::uintptr_t>(begin) + 4096;
        }
        return std::max(end, top - most) / sizeof end * sizeof end;
    }
    [[gnu::noinline]] static void paint(std::uintptr_t from) {
        const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        for (; from < here - own_frames; from += sizeof from)
            *reinterpret_cast<volatile std::uintptr_t *>(from) = colour;
    }
};

} // namespace gyre::test
