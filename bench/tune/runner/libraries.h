/// Kernel libraries loaded side by side: several copies of one kernel, made with different knobs, in one process.
#pragma once

#include <gyre/kernels.h>

#include <cstdint>
#include <string>

namespace gyre::tune {

/// A loaded library with a context that uses no other. Its role, which no other has, says which part it plays in a session,
/// and is the name under which its kernels are registered: so two builds of one library can be loaded.
class Library {
public:
    /// `path`: a shared object as bench/tune/README.md describes it. `kernel`: "attention_plain_f32_d64", which it must
    /// have. Throws Failure.
    Library(std::string role, const std::string &path, const std::string &kernel, std::int32_t threads);
    ~Library();
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;

    const std::string &role() const { return role_; }
    gyre_context *context() const { return context_; }
    const gyre_kernel_info &kernel() const { return kernel_; }

    /// Throws Failure unless the last call ran this library's kernel, or one that uses it.
    void check_selected() const;

private:
    std::string role_;
    gyre_kernel_library registered_{};
    gyre_kernel_info kernel_{};
    gyre_context *context_ = nullptr;
};

/// The kernel that a library's context was made for.
const gyre_kernel &kernel_of(const gyre_context *context);

/// The value of `name=value` among a kernel's attributes; "" if there is none.
std::string attribute(const gyre_kernel_info &kernel, const std::string &name);
std::int64_t number_attribute(const gyre_kernel_info &kernel, const std::string &name, std::int64_t fallback);
gyre_dtype dtype_of(const gyre_kernel_info &kernel, const std::string &name = "dtype");
/// The type of what the kernel reads, where that may differ from what it writes.
gyre_dtype from_dtype_of(const gyre_kernel_info &kernel);

} // namespace gyre::tune
