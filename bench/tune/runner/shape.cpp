#include "shape.h"

#include "events.h"

#include <charconv>
#include <sstream>

namespace gyre::tune {

Shape::Shape(const std::string &text) : text_(text) {
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t equals = part.find('=');
        const char *const end = part.data() + part.size();
        std::int64_t value = -1;
        const bool is_number =
            equals != std::string::npos && std::from_chars(part.data() + equals + 1, end, value).ptr == end;
        if (!is_number || value < 0)
            throw Failure("--shape: got '" + part + "', expected a name, = and a whole number");
        sizes_[part.substr(0, equals)] = value;
    }
}

std::int64_t Shape::operator[](const std::string &key) const {
    const auto found = sizes_.find(key);
    return found != sizes_.end() ? found->second : key == "causal" ? 0 : 1;
}

} // namespace gyre::tune
