#include "options/rope_frequencies.h"

#include "console/errors.h"
#include "options/library_errors.h"

#include <string>

namespace gyre::cli {
namespace {

/// The library is told only where such a list begins, so its length is checked here.
const double *checked_list(const char *key, const std::vector<double> &list, std::int64_t pairs) {
    if (list.empty()) return nullptr;
    if (std::int64_t(list.size()) != pairs) {
        refuse("--rope", "\"" + std::string(key) + "\" has " + std::to_string(list.size()) + " elements",
               std::to_string(pairs) + ", half of rotary_dim");
    }
    return list.data();
}

} // namespace

std::optional<std::int64_t> implied_head_dim(const RopeConfig &config) {
    if (config.head_dim) return config.head_dim;
    if (!config.hidden_size || !config.num_attention_heads) return std::nullopt;
    return *config.hidden_size / *config.num_attention_heads;
}

std::int64_t rotary_dim_of(const RopeConfig &config, std::int64_t head_dim) {
    if (config.head_dim && *config.head_dim != head_dim) {
        refuse("--rope", "a head_dim of " + std::to_string(*config.head_dim), std::to_string(head_dim));
    }
    if (config.rotary_dim) return *config.rotary_dim;
    // "proportional" keeps all pairs and stops some of them; elsewhere the rest of the head has no pairs.
    if (!config.partial_rotary_factor || config.rope_type == "proportional") return head_dim;
    const double share = *config.partial_rotary_factor;
    const std::int64_t rotary_dim = std::int64_t(double(head_dim) * share);
    if (share > 1 || rotary_dim < 2 || rotary_dim % 2 != 0) {
        refuse("--rope", "a partial_rotary_factor of " + std::to_string(share),
               "one that makes an even share of " + std::to_string(head_dim) + " features");
    }
    return rotary_dim;
}

Frequencies frequencies_of(const RopeConfig &config, std::int64_t rotary_dim, std::int64_t head_dim,
                           std::int64_t length) {
    gyre_frequency_rule rule = config.numbers;
    rule.rope_type = config.rope_type.c_str();
    rule.short_factor = checked_list("short_factor", config.short_factor, rotary_dim / 2);
    rule.long_factor = checked_list("long_factor", config.long_factor, rotary_dim / 2);
    if (config.rope_type == "proportional") rule.partial_rotary_factor = config.partial_rotary_factor.value_or(0);
    Frequencies result;
    result.inv_freq.resize(std::size_t(rotary_dim / 2));
    check(gyre_frequencies(&rule, std::int32_t(rotary_dim), std::int32_t(head_dim), length, result.inv_freq.data(),
                           &result.attention_factor),
          {{"", "--rope"}});
    return result;
}

} // namespace gyre::cli
