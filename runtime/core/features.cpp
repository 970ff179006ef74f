#include "core/features.h"

#include "core/device.h"
#include "core/entry.h"
#include "cpu/cpu_features.h"

#include <string>

namespace gyre {
namespace {

/// A device is looked for only where a target names its feature: the first look loads a driver.
bool machine_has(std::string_view feature) {
    const Device *device = linked_device();
    return device && device->names(feature) ? device->is_available(feature) : cpu_has(feature);
}

} // namespace

std::string_view first_missing_feature(std::string_view features) {
    while (!features.empty()) {
        const size_t end = features.find(' ');
        const std::string_view feature = features.substr(0, end);
        if (!machine_has(feature)) return feature;
        features.remove_prefix(end == std::string_view::npos ? features.size() : end + 1);
    }
    return {};
}

} // namespace gyre

extern "C" const char *gyre_cpu_features(void) {
    return gyre::enter_or("", [] {
        static const std::string &list = *new std::string(gyre::cpu_features());
        return list.c_str();
    });
}
