#include "json/json_keys.h"

#include "console/errors.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace gyre::cli {

using Json = nlohmann::json;

const Json *JsonKeys::find(const std::string &key) {
    known_.insert(key);
    const auto at = object_.find(key);
    return at == object_.end() || at->is_null() ? nullptr : &*at;
}

void JsonKeys::bad(const std::string &key, const std::string &expected) const {
    const std::string value = object_.at(key).dump(-1, ' ', false, Json::error_handler_t::replace);
    const std::size_t enough = 60;
    refuse(subject_, "\"" + key + "\" is " + (value.size() > enough ? value.substr(0, enough) + "…" : value), expected);
}

std::optional<double> JsonKeys::number(const std::string &key) {
    const Json *found = find(key);
    if (!found) return std::nullopt;
    if (!found->is_number() || !std::isfinite(found->get<double>())) bad(key, "a number");
    return found->get<double>();
}

std::optional<double> JsonKeys::positive(const std::string &key) {
    const std::optional<double> value = number(key);
    if (value && *value <= 0) bad(key, "a number > 0");
    return value;
}

std::optional<double> JsonKeys::not_negative(const std::string &key) {
    const std::optional<double> value = number(key);
    if (value && *value < 0) bad(key, "a number >= 0");
    return value;
}

std::optional<std::int64_t> JsonKeys::count(const std::string &key) {
    const std::optional<double> value = number(key); // some configurations write 8192.0
    if (!value) return std::nullopt;
    const double exactly_representable = 9007199254740992.0;
    if (*value < 1 || *value > exactly_representable || *value != std::floor(*value)) bad(key, "a whole number >= 1");
    return std::int64_t(*value);
}

std::optional<bool> JsonKeys::truth(const std::string &key) {
    const Json *found = find(key);
    if (!found) return std::nullopt;
    if (!found->is_boolean()) bad(key, "true or false");
    return found->get<bool>();
}

std::optional<std::string> JsonKeys::word(const std::string &key) {
    const Json *found = find(key);
    if (!found) return std::nullopt;
    if (!found->is_string()) bad(key, "a string");
    return found->get<std::string>();
}

std::vector<double> JsonKeys::positive_list(const std::string &key) {
    const Json *found = find(key);
    if (!found) return {};
    const auto is_positive = [](const Json &each) { return each.is_number() && each.get<double>() > 0; };
    if (!found->is_array() || found->empty() || !std::all_of(found->begin(), found->end(), is_positive)) {
        bad(key, "a list of numbers > 0");
    }
    return found->get<std::vector<double>>();
}

std::vector<std::string> JsonKeys::unknown() const {
    std::vector<std::string> keys;
    for (const auto &[key, value] : object_.items()) {
        if (!known_.count(key) && !value.is_null()) keys.push_back(key);
    }
    return keys;
}

} // namespace gyre::cli
