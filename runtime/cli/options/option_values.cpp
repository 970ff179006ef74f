#include "options/option_values.h"

#include "console/errors.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

namespace gyre::cli {
namespace {

[[noreturn]] void reject(const std::string &option, const std::string &text, const std::string &expected) {
    refuse(option, "'" + text + "'", expected);
}

template <typename Number>
std::optional<Number> parse(const std::string &text) {
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string decimal(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
}

} // namespace

std::optional<std::int64_t> parse_whole_number(const std::string &text) { return parse<std::int64_t>(text); }

Option add_whole_number(const Command &command, const std::string &option, std::optional<std::int64_t> &value,
                        std::int64_t least, std::int64_t most, const std::string &help) {
    const auto parse = [&value, option, least, most](const std::string &text) {
        value = parse_whole_number(text);
        if (!value || *value < least || *value > most) {
            reject(option, text, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
        }
    };
    return command.add_option(option, "N", help, parse);
}

Option add_seed(const Command &command, const std::string &option, std::optional<std::uint64_t> &value,
                const std::string &help) {
    const auto take = [&value, option](const std::string &text) {
        value = parse<std::uint64_t>(text);
        if (!value)
            reject(option, text,
                   "a whole number from 0 to " + std::to_string(std::numeric_limits<std::uint64_t>::max()));
    };
    return command.add_option(option, "N", help, take);
}

Option add_real_number(const Command &command, const std::string &option, std::optional<double> &value, double least,
                       bool open, const std::string &help) {
    const auto parse = [&value, option, least, open](const std::string &text) {
        char *end = nullptr;
        const double number = std::strtod(text.c_str(), &end);
        const bool is_number = end != text.c_str() && *end == '\0' && std::isfinite(number);
        if (!is_number || number < least || (open && number == least)) {
            const std::string range = std::isinf(least) ? "" : (open ? " > " : " >= ") + decimal(least);
            reject(option, text, "a finite number" + range);
        }
        value = number;
    };
    return command.add_option(option, "X", help, parse);
}

Option add_text(const Command &command, const std::string &option, std::string &value, const char *kind,
                const std::string &help) {
    const auto parse = [&value, option, kind](const std::string &text) {
        if (text.empty() || text.compare(0, 2, "--") == 0) reject(option, text, kind);
        value = text;
    };
    return command.add_option(option, kind, help, parse);
}

void refuse_together(std::initializer_list<Given> options) {
    const char *first = nullptr;
    std::string all;
    for (const Given &each : options) all += (all.empty() ? "" : ", ") + std::string(each.option);
    for (const Given &each : options) {
        if (!each.given) continue;
        if (first) refuse(each.option, "given together with " + std::string(first), "at most one of " + all);
        first = each.option;
    }
}

void refuse_without(Given option, Given needed) {
    if (option.given && !needed.given) {
        refuse(option.option, "given without " + std::string(needed.option), "both of them");
    }
}

} // namespace gyre::cli
