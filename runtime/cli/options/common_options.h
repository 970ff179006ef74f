/// The options that commands share, and the library context that they describe.
#pragma once

#include "console/command.h"

#include <gyre/gyre.h>

#include <cstdint>
#include <optional>
#include <string>

namespace gyre::cli {

struct CommonOptions {
    std::optional<gyre_dtype> dtype;
    std::string target;
    std::optional<std::int64_t> threads;
    bool json = false;
};

void add_json(const Command &command, CommonOptions &options);
void add_target_and_threads(const Command &command, CommonOptions &options);
void add_dtype(const Command &command, CommonOptions &options);

/// A gyre_context. Its threads end with it.
class Context {
public:
    /// Throws UsageError that names --target or --threads (or the environment variable GYRE_TARGET).
    explicit Context(const CommonOptions &options);
    ~Context() { gyre_context_destroy(context_); }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

    gyre_context *get() const { return context_; }
    int threads() const { return gyre_context_threads(context_); }
    std::string kernel() const { return gyre_selected_kernel(context_); }

private:
    gyre_context *context_ = nullptr;
};

/// What stands behind "__" in a kernel's name.
std::string target_of_kernel(const std::string &kernel);

} // namespace gyre::cli
