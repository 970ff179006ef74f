#include "json/json_text.h"

#include "console/errors.h"

#include <nlohmann/json.hpp>

#include <set>
#include <vector>

namespace gyre::cli {

using Json = nlohmann::json;

nlohmann::json parse_json(const std::string &subject, const std::string &text) {
    constexpr int deepest = 32;
    std::vector<std::set<std::string>> keys; // of the objects that are open, outermost first
    const auto check = [&](int depth, Json::parse_event_t event, const Json &parsed) {
        if (depth >= deepest) refuse(subject, "nested deeper than " + std::to_string(deepest) + " levels", "less");
        if (event == Json::parse_event_t::object_start) keys.emplace_back();
        if (event == Json::parse_event_t::object_end) keys.pop_back();
        if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
            refuse(subject,
                   "two entries " + parsed.dump(-1, ' ', false, Json::error_handler_t::replace) + " in one object",
                   "one of each name");
        return true;
    };
    return Json::parse(text, check, false);
}

} // namespace gyre::cli
