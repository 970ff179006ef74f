/// Tensors that options may give to a call, and the options that the library's refusals are about.
#pragma once

#include "files/array.h"
#include "options/library_errors.h"

#include <string>

namespace gyre::cli {

/// What the calls of operations have in common.
class ArgumentTensors {
protected:
    using Reader = Array (*)(const std::string &option, const std::string &path);

    /// The tensor in a file, kept; nullptr without a path. Notes what stands for the argument. Throws UsageError.
    const gyre_tensor *optional_tensor(const char *argument, const char *option, const std::string &path, Reader read) {
        names_.push_back({argument, path.empty() ? option : option + (" " + path)});
        return path.empty() ? nullptr : store_.keep(names_.back().second, read(option, path));
    }

    ArgumentNames names_;
    TensorStore store_;
};

} // namespace gyre::cli
