/// Libraries of one kernel for one call of gyre_rotary(), which tests register.
#pragma once
#include "each_kernel.h"
#include "said_arguments.h"

#include <gyre/kernels.h>

#include <atomic>
#include <cstring>
#include <new>
#include <string>

#include <sys/mman.h>

namespace gyre::test {

inline std::atomic<int> calls_of_stand_in{0};
inline int stand_in(void **) {
    calls_of_stand_in++;
    return 0;
}

/// A library with one kernel for one call of gyre_rotary(): by default one that computes nothing, and counts that it was asked.
struct StandIn {
    gyre_kernel kernel;
    gyre_kernel_library library;

    explicit StandIn(const char *name, const char *target, int (*run)(void **) = stand_in)
        : kernel{"rotary_stand_in", "rotary", "stand_in", target,         "dtype=float32 pairing=half workspace=0",
                 "default",         run,      nullptr,    rotary_metadata},
          library{sizeof library, GYRE_KERNEL_INTERFACE, name, &kernel, 1} {}
    StandIn(const StandIn &) = delete;
    ~StandIn() { gyre_unregister_kernels(&library); }
};

/// One call of gyre_rotary() that such a kernel takes: `rows` rows x of two features, in place, by an angle of 0.
inline gyre_status rotate_rows(gyre_context *context, float *x, int64_t rows) {
    float cos[1] = {1}, sin[1] = {0};
    const int64_t shape[4] = {rows, 1, 1, 2}, table[2] = {1, 1};
    const gyre_tensor c = gyre_tensor_dense(cos, GYRE_F32, 2, table), s = gyre_tensor_dense(sin, GYRE_F32, 2, table);
    gyre_rotary_args args = gyre_rotary_defaults();
    args.x = args.out = gyre_tensor_dense(x, GYRE_F32, 4, shape);
    args.rope.cos = &c;
    args.rope.sin = &s;
    return gyre_rotary(context, &args);
}

/// A library in memory that cannot be read once it is destroyed, as if it had been unloaded.
class LoadedLibrary {
public:
    LoadedLibrary(const char *name, const char *target) {
        pages_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(pages_ != MAP_FAILED);
        auto *image = new (pages_) Image;
        char *free = image->text;
        const auto copy = [&](const char *text) {
            char *const begin = free;
            free += std::strlen(text) + 1;
            return (const char *)std::memcpy(begin, text, (size_t)(free - begin));
        };
        const StandIn model(name, target);
        image->kernel = model.kernel;
        for (const char **text : {&image->kernel.name, &image->kernel.operation, &image->kernel.variant,
                                  &image->kernel.target, &image->kernel.attributes, &image->kernel.evidence})
            *text = copy(*text);
        image->library = model.library;
        image->library.name = copy(name);
        image->library.kernels = &image->kernel;
    }
    ~LoadedLibrary() { munmap(pages_, bytes); }
    LoadedLibrary(const LoadedLibrary &) = delete;

    const gyre_kernel_library *get() const { return &((const Image *)pages_)->library; }

private:
    struct Image {
        gyre_kernel kernel;
        gyre_kernel_library library;
        char text[512];
    };
    static constexpr size_t bytes = 4096;
    void *pages_;
};

/// Rotates one token in place; the cosines come from a table, so that no other kernel is needed.
inline gyre_status rotate(gyre_context *context) {
    static thread_local float x[2] = {1, 0}; // calls of several threads may be at once
    static float cos[1] = {1}, sin[1] = {0};
    const int64_t shape[4] = {1, 1, 1, 2}, table[2] = {1, 1};
    const gyre_tensor c = gyre_tensor_dense(cos, GYRE_F32, 2, table), s = gyre_tensor_dense(sin, GYRE_F32, 2, table);
    gyre_rotary_args args = gyre_rotary_defaults();
    args.x = args.out = gyre_tensor_dense(x, GYRE_F32, 4, shape);
    args.rope.cos = &c;
    args.rope.sin = &s;
    return gyre_rotary(context, &args);
}

inline std::string best_target() { return runnable_targets().front(); }

inline gyre_context_options of_library(const char *name) {
    gyre_context_options options = gyre_context_defaults();
    options.library = name;
    options.threads = 1;
    return options;
}

} // namespace gyre::test
