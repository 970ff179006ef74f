#include "core/attributes.h"

#include <charconv>

namespace gyre {

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
