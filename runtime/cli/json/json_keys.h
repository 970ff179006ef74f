/// Reads the keys of one JSON object with checks, and remembers which it knows, so that the others can be refused.
/// JSON's null counts as missing.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gyre::cli {

class JsonKeys {
public:
    /// subject: what to blame with UsageError. Both must outlive this.
    JsonKeys(const std::string &subject, const nlohmann::json &object) : subject_(subject), object_(object) {}

    /// The value, or null where the key is missing.
    const nlohmann::json *find(const std::string &key);

    /// Each returns nothing where the key is missing and throws UsageError for another type or range.
    std::optional<double> positive(const std::string &key);
    std::optional<double> not_negative(const std::string &key);
    std::optional<std::int64_t> count(const std::string &key); // a whole number >= 1
    std::optional<bool> truth(const std::string &key);
    std::optional<std::string> word(const std::string &key);
    std::vector<double> positive_list(const std::string &key);

    /// Keys that the object has and that nothing above asked for.
    std::vector<std::string> unknown() const;

    [[noreturn]] void bad(const std::string &key, const std::string &expected) const;

private:
    std::optional<double> number(const std::string &key);

    const std::string &subject_;
    const nlohmann::json &object_;
    std::set<std::string> known_;
};

} // namespace gyre::cli
