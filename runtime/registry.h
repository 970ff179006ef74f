/// What is linked: kernels, and the targets they were made for, best first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre {

/// One ahead-of-time kernel.
struct Kernel {
    const char *name;       // "attention_plain_f32_d64__x86_64_avx512"
    const char *operation;  // "attention"
    const char *variant;    // "plain_f32_d64"
    const char *target;     // "x86_64_avx512"
    const char *attributes; // "general=false head_dim=64 … workspace=407552"
    const char *evidence;   // of its knobs
    int (*call)(void **);   // Halide's _argv entry: 0, or Halide's error code
};

struct KernelList {
    const Kernel *first;
    size_t count;
    const Kernel *begin() const { return first; }
    const Kernel *end() const { return first + count; }
};

/// All linked kernels, best target first. Defined in the list that the build writes.
KernelList linked_kernels();

/// The value of `name=value` among a kernel's attributes; empty, or `fallback`, if it has none of that name.
std::string_view attribute(const Kernel &kernel, std::string_view name);
int64_t attribute(const Kernel &kernel, std::string_view name, int64_t fallback);

/// One row of the target table of this architecture.
struct Target {
    const char *name;
    const char *features; // separated by blanks
};

struct TargetList {
    const Target *first;
    size_t count;
    const Target *begin() const { return first; }
    const Target *end() const { return first + count; }
};

TargetList known_targets();
const Target *find_target(std::string_view name); // nullptr: unknown
bool can_run(const Target &target);
bool is_linked(const Target &target);

/// The row of the target table that a linked kernel was made for, and whether it can run here; found out once.
struct KernelTarget {
    const Target *target;
    bool runnable;
};
KernelTarget target_of(const Kernel &linked_kernel);

} // namespace gyre
