#include "options/rope_json.h"

#include "console/errors.h"
#include "json/json_keys.h"
#include "json/json_text.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace gyre::cli {
namespace {

using Json = nlohmann::json;

template <typename T>
void assign(T &target, const std::optional<T> &value) {
    if (value) target = *value;
}
template <typename T>
void assign(std::optional<T> &target, const std::optional<T> &value) {
    if (value) target = value;
}

/// What both a rule and a whole configuration may hold.
void read_shared_keys(JsonKeys &keys, RopeConfig &config) {
    assign(config.numbers.rope_theta, keys.positive("rope_theta"));
    assign(config.numbers.max_position_embeddings, keys.count("max_position_embeddings"));
    assign(config.numbers.original_max_position_embeddings, keys.count("original_max_position_embeddings"));
    assign(config.partial_rotary_factor, keys.positive("partial_rotary_factor"));
    assign(config.rotary_dim, keys.count("rotary_dim"));
    assign(config.head_dim, keys.count("head_dim"));
}

/// The type's older names, and those that say something about positions but nothing about frequencies.
std::string current_name(const std::string &rope_type) {
    if (rope_type == "su") return "longrope";
    if (rope_type == "mrope") return "default";
    return rope_type;
}

void read_rule(const std::string &subject, const Json &object, RopeConfig &config) {
    JsonKeys keys(subject, object);
    const std::optional<std::string> older = keys.word("type");
    const std::optional<std::string> type = keys.word("rope_type");
    config.rope_type = current_name(type.value_or(older.value_or("default")));
    read_shared_keys(keys, config);

    config.mrope_section = keys.positive_list("mrope_section");
    config.mrope_interleaved = keys.truth("mrope_interleaved").value_or(false);
    const std::size_t without_rule = keys.unknown().size();
    gyre_frequency_rule &numbers = config.numbers;
    assign(numbers.factor, keys.positive("factor"));
    assign(numbers.attention_factor, keys.positive("attention_factor"));
    assign(numbers.beta_fast, keys.positive("beta_fast"));
    assign(numbers.beta_slow, keys.positive("beta_slow"));
    assign(numbers.mscale, keys.not_negative("mscale"));
    assign(numbers.mscale_all_dim, keys.not_negative("mscale_all_dim"));
    assign(numbers.low_freq_factor, keys.positive("low_freq_factor"));
    assign(numbers.high_freq_factor, keys.positive("high_freq_factor"));
    numbers.truncate = keys.truth("truncate").value_or(true);
    config.short_factor = keys.positive_list("short_factor");
    config.long_factor = keys.positive_list("long_factor");

    for (const std::string &key : keys.unknown()) {
        if (object.at(key).is_object()) {
            refuse(subject, "one rule for each kind of layer, such as \"" + key + "\"", "one of them alone");
        }
        refuse(subject, "unknown key \"" + key + "\" with rope_type " + config.rope_type, "keys of a rotary rule");
    }
    if (!type && !older && without_rule > 0) refuse(subject, "no \"rope_type\"", "one, such as \"linear\"");
    if (object.empty()) refuse(subject, "an empty object", "\"rope_type\" or \"rope_theta\"");
}

/// A key that changes the rotation, going by its name. Which layers do without is not a matter of one tensor.
bool concerns_rotation(const std::string &key) {
    if (key.rfind("no_rope_layer", 0) == 0) return false;
    return key.find("rope") != std::string::npos || key.find("rotary") != std::string::npos;
}

void read_model(const std::string &subject, const Json &object, RopeConfig &config) {
    JsonKeys keys(subject, object);
    read_shared_keys(keys, config);
    assign(config.numbers.rope_theta, keys.positive("rotary_emb_base")); // GPT-NeoX's names
    assign(config.partial_rotary_factor, keys.positive("rotary_pct"));
    assign(config.head_dim, keys.count("qk_rope_head_dim")); // of a latent head only this part rotates
    config.hidden_size = keys.count("hidden_size");
    config.num_attention_heads = keys.count("num_attention_heads");
    config.interleaved = keys.truth("rope_interleave").value_or(false);

    const Json *older = keys.find("rope_scaling");
    const Json *newer = keys.find("rope_parameters");
    for (const std::string &key : keys.unknown()) {
        if (concerns_rotation(key) && object.at(key) != false) {
            refuse(subject, "unknown key \"" + key + "\"", "a configuration without it, or the rule alone");
        }
    }
    const Json *rule = newer ? newer : older;
    if (!rule) return;
    const char *name = newer ? "rope_parameters" : "rope_scaling";
    if (!rule->is_object()) keys.bad(name, "an object");
    read_rule(subject + " (" + name + ")", *rule, config);
}

bool is_model(const Json &object) {
    for (const char *key : {"rope_scaling", "rope_parameters", "hidden_size", "num_attention_heads", "model_type"}) {
        if (object.contains(key)) return true;
    }
    return false;
}

std::string read_text_file(const std::string &subject, const std::string &path) {
    constexpr std::size_t longest = 16 << 20; // bytes; a model's configuration has a few thousand
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) refuse(subject, "a directory", "a file of JSON");
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(subject, "no such file, or not readable", "a file of JSON");
    std::string text(longest + 1, '\0');
    file.read(text.data(), std::streamsize(text.size()));
    if (file.bad()) refuse(subject, "cannot be read", "a file of JSON");
    if (std::size_t(file.gcount()) > longest) refuse(subject, "more than 16 MiB", "a model's configuration");
    text.resize(std::size_t(file.gcount()));
    return text;
}

} // namespace

RopeConfig read_rope(const std::string &text) {
    const bool is_file = text[0] == '@';
    const std::string subject = is_file ? "--rope " + text : "--rope";
    const std::string source = is_file ? read_text_file(subject, text.substr(1)) : text;
    const Json json = parse_json(subject, source);
    if (json.is_discarded()) {
        refuse(subject, is_file ? "not JSON" : "'" + text + "' is not JSON", "inline JSON, or @ and a file's name");
    }
    if (!json.is_object()) refuse(subject, std::string("a JSON ") + json.type_name(), "an object");
    RopeConfig config;
    const auto language_part = json.find("text_config"); // of a model that also sees or hears
    if (language_part != json.end() && language_part->is_object()) {
        read_model(subject, *language_part, config);
    } else if (is_model(json)) {
        read_model(subject, json, config);
    } else {
        read_rule(subject, json, config);
    }
    return config;
}

} // namespace gyre::cli
