/// Options whose values are checked as they are read, so that every refusal names the option, the value and what it
/// should have been. (CLI11's own conversions read 010 as eight, and say only that a conversion failed.)
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gyre::cli {

CLI::Option *add_whole_number(CLI::App &app, const std::string &option, std::optional<std::int64_t> &value,
                              std::int64_t least, std::int64_t most, const std::string &help);

/// least may be -infinity; open: the least value itself is refused. Never infinite or NaN.
CLI::Option *add_real_number(CLI::App &app, const std::string &option, std::optional<double> &value, double least,
                             bool open, const std::string &help);

/// A file's name, or other text that an option needs. Another option in its place is refused.
CLI::Option *add_text(CLI::App &app, const std::string &option, std::string &value, const char *kind,
                      const std::string &help);

/// One of a few words.
template <typename T>
CLI::Option *add_choice(CLI::App &app, const std::string &option, std::optional<T> &value,
                        const std::vector<std::pair<std::string, T>> &choices, const std::string &help) {
    std::string names;
    for (const auto &choice : choices) names += (names.empty() ? "" : "|") + choice.first;
    const auto parse = [&value, option, choices, names](const std::string &text) {
        for (const auto &choice : choices) {
            if (choice.first == text) {
                value = choice.second;
                return;
            }
        }
        throw CLI::ValidationError(option, "'" + text + "'; expected " + names);
    };
    return app.add_option_function<std::string>(option, parse, help)->type_name(names);
}

/// An option by its name, and whether the user gave it.
struct Given {
    const char *option;
    bool given;
};

/// Throws UsageError if more than one was given.
void refuse_together(std::initializer_list<Given> options);

/// Throws UsageError if the first was given and the second was not.
void refuse_without(Given option, Given needed);

/// Reads a whole number that fills the text; nothing if it is not one.
std::optional<std::int64_t> parse_whole_number(const std::string &text);

} // namespace gyre::cli
