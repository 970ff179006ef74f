#include "libraries.h"

#include "events.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

namespace gyre::tune {
namespace {

gyre_kernel_info find_kernel(const std::string &library, const std::string &kernel) {
    gyre_kernel_info info;
    std::string names;
    for (std::int32_t i = 0; gyre_kernel_at(i, &info); i++) {
        if (library != info.library) continue;
        const std::string name = std::string(info.operation) + (*info.variant ? "_" : "") + info.variant;
        if (kernel == name) return info;
        names += " " + name;
    }
    throw Failure(library + " has no kernel " + kernel + ", but" + names);
}

/// What kernel_of() tells.
std::map<const gyre_context *, const gyre_kernel *> &kernels_by_context() {
    static std::map<const gyre_context *, const gyre_kernel *> kernels;
    return kernels;
}

/// What the shared object exports. It is never unloaded: the process is short.
const gyre_kernel_library &kernels_in(const std::string &path) {
    void *object = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!object) throw Failure(std::string("cannot be loaded: ") + dlerror());
    const void *found = dlsym(object, "gyre_loadable_kernels");
    if (!found) throw Failure(path + ": exports no gyre_loadable_kernels, as what cmake/go kernel makes does");
    return *static_cast<const gyre_kernel_library *>(found);
}

} // namespace

Library::Library(std::string role, const std::string &path, const std::string &kernel, std::int32_t threads)
    : role_(std::move(role)), registered_(kernels_in(path)) {
    registered_.name = role_.c_str();
    if (gyre_register_kernels(&registered_) != GYRE_OK) throw Failure(path + ": " + gyre_last_error());
    kernel_ = find_kernel(role_, kernel);
    if (!kernel_.runnable) throw Failure(std::string("this machine cannot run ") + kernel_.target);
    gyre_context_options options = gyre_context_defaults();
    options.threads = threads;
    options.target = kernel_.target;
    options.library = role_.c_str();
    if (gyre_context_create(&options, &context_) != GYRE_OK) throw Failure(gyre_last_error());
    for (std::size_t i = 0; i < registered_.count; i++)
        if (std::string(registered_.kernels[i].name) == kernel_.name)
            kernels_by_context()[context_] = &registered_.kernels[i];
}

Library::~Library() {
    gyre_context_destroy(context_);
    gyre_unregister_kernels(&registered_);
}

const gyre_kernel &kernel_of(const gyre_context *context) { return *kernels_by_context().at(context); }

void Library::check_selected() const {
    if (attribute(kernel_, "own") == "true") return; // which the runner calls by itself
    if (role_ != gyre_selected_library(context_)) throw Failure("another library's kernel ran in place of " + role_);
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
