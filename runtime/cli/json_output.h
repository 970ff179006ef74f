/// How results are printed as JSON: keys in the order in which they were added, and any file name is fine.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace gyre::cli {

using Json = nlohmann::ordered_json;

inline std::string json_text(const Json &json) {
    const int indent = 2;
    return json.dump(indent, ' ', false, Json::error_handler_t::replace); // names need not be UTF-8
}

} // namespace gyre::cli
