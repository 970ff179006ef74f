#include "json/json_output.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace gyre::cli {

using Json = nlohmann::ordered_json;

JsonObject::JsonObject() : object_(std::make_unique<Json>(Json::object())) {}
JsonObject::~JsonObject() = default;
JsonObject::JsonObject(JsonObject &&other) noexcept = default;
JsonObject &JsonObject::operator=(JsonObject &&other) noexcept = default;

template <typename T>
JsonObject &JsonObject::set(const char *key, T &&value) {
    (*object_)[key] = std::forward<T>(value);
    return *this;
}

JsonObject &JsonObject::add(const char *key, const char *value) { return set(key, value); }
JsonObject &JsonObject::add(const char *key, const std::string &value) { return set(key, value); }
JsonObject &JsonObject::add(const char *key, bool value) { return set(key, value); }
JsonObject &JsonObject::add(const char *key, int value) { return set(key, value); }
JsonObject &JsonObject::add(const char *key, std::int64_t value) { return set(key, value); }
JsonObject &JsonObject::add(const char *key, std::size_t value) { return set(key, value); }
JsonObject &JsonObject::add(const char *key, double value) { return set(key, value); }
JsonObject &JsonObject::add(const char *key, const std::vector<std::int64_t> &values) { return set(key, values); }
JsonObject &JsonObject::add(const char *key, const std::vector<double> &values) { return set(key, values); }
JsonObject &JsonObject::add(const char *key, const std::vector<std::string> &values) { return set(key, values); }
JsonObject &JsonObject::add(const char *key, const JsonObject &value) { return set(key, *value.object_); }

JsonObject &JsonObject::add(const char *key, const std::vector<JsonObject> &values) {
    Json list = Json::array();
    for (const JsonObject &value : values) list.push_back(*value.object_);
    return set(key, std::move(list));
}

JsonObject &JsonObject::add_null(const char *key) { return set(key, nullptr); }

std::string JsonObject::text() const {
    const int indent = 2;
    return object_->dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string JsonObject::line() const { return object_->dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string json_number(double value) { return Json(value).dump(); }

} // namespace gyre::cli
