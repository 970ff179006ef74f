/// A kernel that a test registers, with arguments that the test makes up.
#pragma once
#include "said_arguments.h"

#include <gyre/gyre.h>
#include <gyre/kernels.h>

namespace gyre::test {

/// A library of one kernel, which counts its calls and computes nothing.
class Candidate {
public:
    /// What the kernel says of its arguments, and how often it was called.
    static inline SaidArguments said;
    static inline int calls = 0;

    gyre_kernel kernel;

    Candidate(const char *operation, const char *variant, const char *target, const char *attributes)
        : kernel{"candidate", operation, variant, target, attributes, "default", count_call, nullptr, metadata} {
        calls = 0;
    }
    Candidate(const Candidate &) = delete;
    Candidate &operator=(const Candidate &) = delete;
    ~Candidate() { gyre_unregister_kernels(&library_); }
    gyre_status add() { return gyre_register_kernels(&library_); }

private:
    gyre_kernel_library library_ = {sizeof library_, GYRE_KERNEL_INTERFACE, "candidates", &kernel, 1};

    static int count_call(void **) {
        calls++;
        return 0;
    }
    static const halide_filter_metadata_t *metadata() {
        static halide_filter_metadata_t told;
        told = {1, (int32_t)said.size(), said.data(), "host", "candidate"};
        return &told;
    }
};

} // namespace gyre::test
