#include "libraries.h"

#include "events.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace gyre::tune {
namespace {

gyre_kernel_info find_kernel(const std::string &library, const std::string &kernel) {
    gyre_kernel_info info;
    bool any = false;
    for (std::int32_t i = 0; gyre_kernel_at(i, &info); i++) {
        if (library != info.library) continue;
        any = true;
        if (kernel == std::string(info.operation) + "_" + info.variant) return info;
    }
    throw Failure(any ? library + " has no kernel " + kernel
                      : library + " registered no kernels: " + std::string(gyre_last_error()));
}

} // namespace

Library::Library(std::string role, const std::string &path, const std::string &kernel, std::int32_t threads)
    : role_(std::move(role)), name_(std::filesystem::path(path).stem().string()) {
    // Never unloaded: the registry refers to it, and the process is short.
    if (!dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL))
        throw Failure(std::string("cannot be loaded: ") + dlerror());
    kernel_ = find_kernel(name_, kernel);
    if (!kernel_.runnable) throw Failure(std::string("this machine cannot run ") + kernel_.target);
    gyre_context_options options = gyre_context_defaults();
    options.threads = threads;
    options.target = kernel_.target;
    options.library = name_.c_str();
    if (gyre_context_create(&options, &context_) != GYRE_OK) throw Failure(gyre_last_error());
}

void Library::check_selected() const {
    if (name_ != gyre_selected_library(context_)) throw Failure("another library's kernel ran in place of " + name_);
}

std::string attribute(const gyre_kernel_info &kernel, const std::string &name) {
    std::istringstream words(kernel.attributes);
    for (std::string word; words >> word;)
        if (word.compare(0, name.size() + 1, name + "=") == 0) return word.substr(name.size() + 1);
    return "";
}

std::int64_t number_attribute(const gyre_kernel_info &kernel, const std::string &name, std::int64_t fallback) {
    const std::string text = attribute(kernel, name);
    return text.empty() ? fallback : std::strtoll(text.c_str(), nullptr, 10);
}

gyre_dtype dtype_of(const gyre_kernel_info &kernel, const std::string &name) {
    const std::string type = attribute(kernel, name);
    return type == "float16" ? GYRE_F16 : type == "bfloat16" ? GYRE_BF16 : GYRE_F32;
}

gyre_dtype from_dtype_of(const gyre_kernel_info &kernel) {
    return dtype_of(kernel, attribute(kernel, "from_dtype").empty() ? "dtype" : "from_dtype");
}

} // namespace gyre::tune
