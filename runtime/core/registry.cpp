#include "core/registry.h"

#include "core/contract.h"
#include "core/entry.h"
#include "core/features.h"

#include <algorithm>
#include <set>
#include <string>

#if defined(__linux__)
#include <dlfcn.h>
#endif

namespace gyre {
namespace {

/// Keeps the library that this is part of in memory for good: threads of pools may be in it, and what other threads hold is
/// its, whatever dlclose() is asked for. Loaded again, it goes on with what it had.
void keep_loaded() {
#if defined(__linux__)
    Dl_info own;
    if (dladdr(reinterpret_cast<const void *>(&keep_loaded), &own) && own.dli_fname)
        dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}

/// The library that this is linked with, or none of its kernels, if these take other arguments than it hands over.
struct Prebuilt {
    const gyre_kernel_library *library;
    std::string refusal; // why there are none; empty: they are all right

    Prebuilt() : library(gyre_prebuilt_kernels()) {
        static const gyre_kernel_library none = {sizeof none, GYRE_KERNEL_INTERFACE, "gyre", nullptr, 0};
        for (size_t i = 0; i < library->count; i++)
            if (check_arguments(library->kernels[i]) != GYRE_OK) {
                refusal = gyre_last_error();
                library = &none;
            }
    }
};

/// The registered libraries. Never destroyed: libraries take themselves away when the process ends, after static objects are
/// gone, and other threads may still call.
class Registry {
public:
    using List = std::shared_ptr<const KernelList>;

    static Registry &instance() {
        static auto &registry = *new Registry;
        return registry;
    }

    List current() {
        const std::lock_guard<std::mutex> lock(registry_mutex());
        return current_;
    }

    const char *prebuilt_refusal() const { return prebuilt.refusal.c_str(); }

    bool is_current(const KernelList *list) const { return list == newest.load(std::memory_order_acquire); }

    bool add(const gyre_kernel_library *given) {
        const std::lock_guard<std::mutex> lock(registry_mutex());
        if (current_->find_library(given->name)) return false;
        auto libraries = current_->libraries();
        libraries.push_back(std::make_shared<const Library>(keep(given->name), given));
        publish(std::move(libraries));
        return true;
    }

    bool remove(const gyre_kernel_library *given) {
        const std::lock_guard<std::mutex> lock(registry_mutex());
        const auto &all = current_->libraries();
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const auto &library) { return library->given == given && !library->gone; });
        if (found == all.end()) return false;
        const auto library = *found;
        library->gone = true;
        try {
            publish(all); // without those that are gone
        } catch (const std::bad_alloc &) {
            return true; // without memory for another list, the one that there is says that the library is gone
        }
        return true;
    }

private:
    const Prebuilt prebuilt;
    std::set<std::string, std::less<>> strings; // of kernels, which contexts and callers go on to read
    List current_;
    std::atomic<const KernelList *> newest{nullptr};

    Registry() {
        keep_loaded();
        publish({std::make_shared<const Library>(prebuilt.library->name, prebuilt.library)});
    }

    const char *keep(std::string_view text) {
        const auto found = strings.find(text);
        return (found != strings.end() ? found : strings.emplace(text).first)->c_str();
    }

    void publish(std::vector<std::shared_ptr<const Library>> libraries) {
        libraries.erase(
            std::remove_if(libraries.begin(), libraries.end(), [](const auto &l) { return l->gone.load(); }),
            libraries.end());
        std::vector<Kernel> kernels;
        for (const Target &target : known_targets())
            for (auto library = libraries.rbegin(); library != libraries.rend(); ++library)
                append(**library, &target, &kernels);
        for (const auto &library : libraries) append(*library, nullptr, &kernels);
        current_ = std::make_shared<const KernelList>(std::move(kernels), std::move(libraries));
        newest.store(current_.get(), std::memory_order_release);
    }

    /// The library's kernels of that target; of none that is known, if `target` is nullptr.
    void append(const Library &library, const Target *target, std::vector<Kernel> *list) {
        const bool own = library.given == prebuilt.library; // whose strings are this library's
        for (size_t i = 0; i < library.given->count; i++) {
            const gyre_kernel &given = library.given->kernels[i];
            if (find_target(given.target) != target) continue;
            gyre_kernel k = given;
            if (!own)
                for (const char **text : {&k.name, &k.operation, &k.variant, &k.target, &k.attributes, &k.evidence})
                    *text = keep(*text);
            list->push_back({k, &library, target});
        }
    }
};

} // namespace

std::mutex &registry_mutex() {
    static std::mutex mutex;
    return mutex;
}

bool is_linked(const Target &target) {
    const auto list = linked_kernels();
    return std::any_of(list->kernels().begin(), list->kernels().end(),
                       [&](const Kernel &k) { return k.row == &target; });
}

std::shared_ptr<const KernelList> linked_kernels() { return Registry::instance().current(); }

const char *prebuilt_refusal() { return Registry::instance().prebuilt_refusal(); }

bool is_current(const KernelList *list) { return Registry::instance().is_current(list); }

} // namespace gyre

using namespace gyre;

namespace {

/// Every string that the registry will read.
gyre_status check_library(const gyre_kernel_library *library) {
    if (!library) return refuse(GYRE_BAD_ARGUMENT, "library", "got NULL");
    if (library->size != sizeof *library)
        return refuse(GYRE_BAD_ARGUMENT, "library.size", "got %u, expected %zu", library->size, sizeof *library);
    if (library->kernel_interface != GYRE_KERNEL_INTERFACE)
        return refuse(GYRE_UNSUPPORTED, "library.kernel_interface",
                      "got %u in \"%.64s\", expected %d: make the library again", library->kernel_interface,
                      library->name ? library->name : "", GYRE_KERNEL_INTERFACE);
    if (!library->name) return refuse(GYRE_BAD_ARGUMENT, "library.name", "got NULL, expected a name of its own");
    if (library->count && !library->kernels)
        return refuse(GYRE_BAD_ARGUMENT, "library.kernels", "got NULL, expected %zu kernels", library->count);
    for (size_t i = 0; i < library->count; i++) {
        const gyre_kernel &k = library->kernels[i];
        for (const char *text : {k.name, k.operation, k.variant, k.target, k.attributes, k.evidence})
            if (!text)
                return refuse(GYRE_BAD_ARGUMENT, ArgumentName("library.kernels[%zu]", i),
                              "got NULL, expected all its strings");
        if (!k.call)
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("library.kernels[%zu].call", i),
                          "got NULL, expected a function");
        GYRE_TRY(check_arguments(k));
    }
    return GYRE_OK;
}

} // namespace

extern "C" gyre_status gyre_register_kernels(const gyre_kernel_library *library) {
    return enter([&] {
        GYRE_TRY(check_library(library));
        if (!Registry::instance().add(library))
            return refuse(GYRE_BAD_ARGUMENT, "library.name", "a library called \"%.64s\" is registered", library->name);
        return GYRE_OK;
    });
}

extern "C" gyre_status gyre_unregister_kernels(const gyre_kernel_library *library) {
    return enter([&] {
        if (!library || !Registry::instance().remove(library))
            return refuse(GYRE_BAD_ARGUMENT, "library", "not registered");
        return GYRE_OK;
    });
}
