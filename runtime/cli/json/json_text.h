/// Reads text as JSON, more strictly than the library that does the reading: what could mean two things is refused.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace gyre::cli {

/// Throws UsageError that blames subject for objects with two entries of one name, and for nesting deeper than any
/// configuration's, which would overflow the stack of whatever walks over it. Discarded (is_discarded()) if the text is
/// not JSON.
nlohmann::json parse_json(const std::string &subject, const std::string &text);

} // namespace gyre::cli
