/// @file
/// Ownership of a context.
#ifndef GYRE_CONTEXT_HPP
#define GYRE_CONTEXT_HPP

#include "context.h"
#include "error.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace gyre {
inline namespace v0 { // keeps these names apart from the library's own

/// Options of a context that begin as gyre_context_defaults().
struct ContextOptions : gyre_context_options {
    /// The defaults.
    ContextOptions() : gyre_context_options(gyre_context_defaults()) {}
};

/// Owns a gyre_context; movable. Converts to the pointer that the functions below take, where nullptr is fine, too.
class Context {
public:
    /// Makes a context. Throws Error as gyre_context_create() fails.
    explicit Context(const gyre_context_options &options = ContextOptions()) {
        gyre_context *context = nullptr;
        check(gyre_context_create(&options, &context));
        context_.reset(context);
    }

    /// The context; it stays this object's.
    operator gyre_context *() const noexcept { return context_.get(); }
    /// The number of threads of a call.
    std::int32_t threads() const { return gyre_context_threads(context_.get()); }
    /// The best target that calls use.
    std::string target() const { return gyre_context_target(context_.get()); }
    /// The kernel that the last successful call ran; "" before the first.
    std::string selected_kernel() const { return gyre_selected_kernel(context_.get()); }
    /// The library that this kernel is of; "" before the first call.
    std::string selected_library() const { return gyre_selected_library(context_.get()); }

private:
    struct Destroy {
        void operator()(gyre_context *context) const { gyre_context_destroy(context); }
    };
    std::unique_ptr<gyre_context, Destroy> context_;
};

} // namespace v0
} // namespace gyre
#endif
