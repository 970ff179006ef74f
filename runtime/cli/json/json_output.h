/// How results are printed as JSON. Only json_output.cpp includes the library that does it, which takes seconds to
/// compile.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gyre::cli {

/// A JSON object whose keys stay in the order in which they were added.
class JsonObject {
public:
    JsonObject();
    ~JsonObject();
    JsonObject(JsonObject &&other) noexcept;
    JsonObject &operator=(JsonObject &&other) noexcept;

    JsonObject &add(const char *key, const char *value);
    JsonObject &add(const char *key, const std::string &value);
    JsonObject &add(const char *key, bool value);
    JsonObject &add(const char *key, int value);
    JsonObject &add(const char *key, std::int64_t value);
    JsonObject &add(const char *key, std::size_t value);
    JsonObject &add(const char *key, double value);
    JsonObject &add(const char *key, const std::vector<std::int64_t> &values);
    JsonObject &add(const char *key, const std::vector<double> &values);
    JsonObject &add(const char *key, const std::vector<std::string> &values);
    JsonObject &add(const char *key, const JsonObject &value);
    JsonObject &add(const char *key, const std::vector<JsonObject> &values);
    JsonObject &add_null(const char *key);

    /// Several indented lines. Text that is not UTF-8, as file names may be, gets replacement characters.
    std::string text() const;
    /// The text as one line.
    std::string line() const;

private:
    template <typename T>
    JsonObject &set(const char *key, T &&value);

    std::unique_ptr<nlohmann::ordered_json> object_;
};

/// A number as JSON writes it: the shortest that reads back as the same.
std::string json_number(double value);

} // namespace gyre::cli
