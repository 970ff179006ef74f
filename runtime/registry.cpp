#include "registry.h"

#include "cpu_features.h"
#include "error.h"

#include <algorithm>
#include <charconv>
#include <new>

namespace gyre {
namespace {

constexpr Target targets[] = {
#include "gyre_targets.inc"
};

/// The registered libraries, and the lists of kernels that were made of them. Never destroyed: libraries take
/// themselves away when the process ends, after static objects are gone.
class Registry {
public:
    static Registry &instance() {
        static auto &registry = *new Registry;
        return registry;
    }

    const std::vector<Kernel> &kernels() const { return *current.load(std::memory_order_acquire); }

    const gyre_kernel_library *find(std::string_view name) {
        const std::lock_guard<std::mutex> lock(mutex);
        for (const gyre_kernel_library *library : libraries)
            if (name == library->name) return library;
        return nullptr;
    }

    bool add(const gyre_kernel_library *library) {
        const std::lock_guard<std::mutex> lock(mutex);
        for (const gyre_kernel_library *other : libraries)
            if (std::string_view(library->name) == other->name) return false;
        libraries.push_back(library);
        publish();
        return true;
    }

    bool remove(const gyre_kernel_library *library) {
        const std::lock_guard<std::mutex> lock(mutex);
        const auto found = std::find(libraries.begin(), libraries.end(), library);
        if (found == libraries.end()) return false;
        libraries.erase(found);
        publish();
        return true;
    }

private:
    std::mutex mutex;
    std::vector<const gyre_kernel_library *> libraries{gyre_prebuilt_kernels()};
    std::vector<std::unique_ptr<const std::vector<Kernel>>> lists;
    std::atomic<const std::vector<Kernel> *> current{nullptr};

    Registry() { publish(); }

    void publish() {
        auto list = std::make_unique<std::vector<Kernel>>();
        for (const Target &target : targets)
            for (auto library = libraries.rbegin(); library != libraries.rend(); ++library)
                append(**library, &target, list.get());
        for (const gyre_kernel_library *library : libraries) append(*library, nullptr, list.get());
        lists.push_back(std::move(list));
        current.store(lists.back().get(), std::memory_order_release);
    }

    /// The library's kernels of that target; of none that is known, if `target` is nullptr.
    static void append(const gyre_kernel_library &library, const Target *target, std::vector<Kernel> *list) {
        // Devices are only asked for when a call has tensors there.
        const bool runnable = target && target->device == GYRE_CPU && can_run(*target);
        for (size_t i = 0; i < library.count; i++)
            if (find_target(library.kernels[i].target) == target)
                list->push_back({library.kernels[i], &library, target, runnable});
    }
};

} // namespace

TargetList known_targets() { return {targets, sizeof targets / sizeof targets[0]}; }

const Target *find_target(std::string_view name) {
    for (const Target &t : targets)
        if (name == t.name) return &t;
    return nullptr;
}

bool can_run(const Target &target) { return first_missing_feature(target.features).empty(); }

bool serves(const Target *serving, const Target &target) {
    for (const Target *t = &target; t; t = find_target(t->rest))
        if (serving == t) return true;
    return false;
}

bool is_linked(const Target &target) {
    for (const Kernel &k : linked_kernels())
        if (k.row == &target) return true;
    return false;
}

const std::vector<Kernel> &linked_kernels() { return Registry::instance().kernels(); }

const gyre_kernel_library *find_library(std::string_view name) { return Registry::instance().find(name); }

std::string_view attribute(const gyre_kernel &kernel, std::string_view name) {
    std::string_view rest = kernel.attributes;
    while (!rest.empty()) {
        const size_t end = rest.find(' ');
        const std::string_view pair = rest.substr(0, end);
        if (pair.size() > name.size() && pair.substr(0, name.size()) == name && pair[name.size()] == '=')
            return pair.substr(name.size() + 1);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return {};
}

int64_t attribute(const gyre_kernel &kernel, std::string_view name, int64_t fallback) {
    const std::string_view text = attribute(kernel, name);
    int64_t value = fallback;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_register_kernels(const gyre_kernel_library *library) {
    if (!library || !library->name || (library->count && !library->kernels))
        return fail(GYRE_BAD_ARGUMENT, "library: got NULL, expected a library, its name and its kernels");
    if (library->size != sizeof *library)
        return fail(GYRE_BAD_ARGUMENT, "library.size: got %u, expected %zu", library->size, sizeof *library);
    if (library->kernel_interface != GYRE_KERNEL_INTERFACE)
        return fail(GYRE_UNSUPPORTED, "%s: made for kernel interface %u, this library has %d: make it again",
                    library->name, library->kernel_interface, GYRE_KERNEL_INTERFACE);
    try {
        if (!Registry::instance().add(library))
            return fail(GYRE_BAD_ARGUMENT, "library.name: a library called \"%s\" is registered", library->name);
    } catch (const std::bad_alloc &) {
        return fail(GYRE_OUT_OF_MEMORY, "library: no memory to register %s", library->name);
    }
    return GYRE_OK;
}

extern "C" gyre_status gyre_unregister_kernels(const gyre_kernel_library *library) {
    if (!library || !Registry::instance().remove(library)) return fail(GYRE_BAD_ARGUMENT, "library: not registered");
    return GYRE_OK;
}
