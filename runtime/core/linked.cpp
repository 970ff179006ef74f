// What is linked, as the public functions tell it.
#include "core/entry.h"
#include "core/features.h"
#include "core/registry.h"

using namespace gyre;

extern "C" int32_t gyre_target_count(void) { return static_cast<int32_t>(known_targets().count); }

extern "C" int32_t gyre_target_at(int32_t index, gyre_target_info *info) {
    if (!info || index < 0 || index >= gyre_target_count()) return 0;
    return enter_or(0, [&] {
        const Target &t = known_targets().first[index];
        // The missing feature is a piece of the list: copied, so that it ends where a C string must, to a place of this target's own.
        static thread_local char places[32][32];
        char *const missing = places[static_cast<size_t>(index) % 32];
        const std::string_view first = first_missing_feature(t.features);
        missing[first.copy(missing, sizeof places[0] - 1)] = '\0';
        *info = {t.name, is_linked(t), can_run(t), t.features, missing, t.rest, t.device};
        return 1;
    });
}

extern "C" int32_t gyre_kernel_count(void) {
    return enter_or(0, [] { return static_cast<int32_t>(linked_kernels()->kernels().size()); });
}

extern "C" int32_t gyre_kernel_at(int32_t index, gyre_kernel_info *info) {
    return enter_or(0, [&] {
        const auto list = linked_kernels();
        if (!info || index < 0 || static_cast<size_t>(index) >= list->kernels().size()) return 0;
        const Kernel &k = list->kernels()[static_cast<size_t>(index)];
        *info = {k.name,       k.operation, k.variant,       k.target,
                 k.attributes, k.evidence,  k.library->name, k.row && can_run(*k.row)};
        return 1;
    });
}
