/// Kernel libraries loaded side by side: several copies of one kernel, made with different knobs, in one process.
#pragma once

#include <gyre/gyre.h>

#include <cstdint>
#include <string>

namespace gyre::tune {

/// A loaded library with a context that uses no other. What it was loaded as says which part it plays in a session.
class Library {
public:
    /// `path`: a shared object that registers itself under the name of its file, without ".so". `kernel`:
    /// "attention_plain_f32_d64", which it must have. Throws Failure.
    Library(std::string role, const std::string &path, const std::string &kernel, std::int32_t threads);
    ~Library() { gyre_context_destroy(context_); }
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;

    const std::string &role() const { return role_; }
    gyre_context *context() const { return context_; }
    const gyre_kernel_info &kernel() const { return kernel_; }

    /// Throws Failure unless the last call ran this library's kernel, or one that uses it.
    void check_selected() const;

private:
    std::string role_, name_;
    gyre_kernel_info kernel_{};
    gyre_context *context_ = nullptr;
};

/// The value of `name=value` among a kernel's attributes; "" if there is none.
std::string attribute(const gyre_kernel_info &kernel, const std::string &name);
std::int64_t number_attribute(const gyre_kernel_info &kernel, const std::string &name, std::int64_t fallback);
gyre_dtype dtype_of(const gyre_kernel_info &kernel, const std::string &name = "dtype");
/// The type of what the kernel reads, where that may differ from what it writes.
gyre_dtype from_dtype_of(const gyre_kernel_info &kernel);

} // namespace gyre::tune
