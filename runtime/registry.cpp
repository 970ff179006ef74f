#include "registry.h"

#include "cpu_features.h"
#include "gyre/gyre.h"

#include <charconv>
#include <vector>

namespace gyre {
namespace {

constexpr Target targets[] = {
#include "gyre_targets.inc"
};

} // namespace

TargetList known_targets() { return {targets, sizeof targets / sizeof targets[0]}; }

const Target *find_target(std::string_view name) {
    for (const Target &t : targets)
        if (name == t.name) return &t;
    return nullptr;
}

bool can_run(const Target &target) { return first_missing_feature(target.features).empty(); }

bool is_linked(const Target &target) {
    for (const Kernel &k : linked_kernels())
        if (std::string_view(k.target) == target.name) return true;
    return false;
}

KernelTarget target_of(const Kernel &kernel) {
    static const std::vector<KernelTarget> all = [] {
        std::vector<KernelTarget> list;
        for (const Kernel &k : linked_kernels()) {
            const Target *target = find_target(k.target);
            list.push_back({target, target && can_run(*target)});
        }
        return list;
    }();
    return all[static_cast<size_t>(&kernel - linked_kernels().first)];
}

std::string_view attribute(const Kernel &kernel, std::string_view name) {
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

int64_t attribute(const Kernel &kernel, std::string_view name, int64_t fallback) {
    const std::string_view text = attribute(kernel, name);
    int64_t value = fallback;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

} // namespace gyre

using namespace gyre;

extern "C" int32_t gyre_target_count(void) { return static_cast<int32_t>(known_targets().count); }

extern "C" int32_t gyre_target_at(int32_t index, gyre_target_info *info) {
    if (!info || index < 0 || index >= gyre_target_count()) return 0;
    const Target &t = known_targets().first[index];
    // The missing feature is a piece of the list: copied, so that it ends where a C string must.
    static thread_local char missing[32];
    const std::string_view first = first_missing_feature(t.features);
    missing[first.copy(missing, sizeof missing - 1)] = '\0';
    *info = {t.name, is_linked(t), can_run(t), t.features, missing};
    return 1;
}

extern "C" int32_t gyre_kernel_count(void) { return static_cast<int32_t>(linked_kernels().count); }

extern "C" int32_t gyre_kernel_at(int32_t index, gyre_kernel_info *info) {
    if (!info || index < 0 || index >= gyre_kernel_count()) return 0;
    const Kernel &k = linked_kernels().first[index];
    *info = {k.name, k.operation, k.variant, k.target, k.attributes, k.evidence, target_of(k).runnable};
    return 1;
}
