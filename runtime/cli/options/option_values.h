/// Options whose values are checked as they are read, so that every refusal names the option, the value and what it
/// should have been. (A parser's own conversions may read 010 as eight, and say only that a conversion failed.)
#pragma once

#include "console/command.h"
#include "console/errors.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gyre::cli {

Option add_whole_number(const Command &command, const std::string &option, std::optional<std::int64_t> &value,
                        std::int64_t least, std::int64_t most, const std::string &help);

/// A whole number from 0 to 2^64 - 1.
Option add_seed(const Command &command, const std::string &option, std::optional<std::uint64_t> &value,
                const std::string &help);

/// least may be -infinity; open: the least value itself is refused. Never infinite or NaN.
Option add_real_number(const Command &command, const std::string &option, std::optional<double> &value, double least,
                       bool open, const std::string &help);

/// A file's name, or other text that an option needs. Another option in its place is refused.
Option add_text(const Command &command, const std::string &option, std::string &value, const char *kind,
                const std::string &help);

/// One of a few words.
template <typename T>
Option add_choice(const Command &command, const std::string &option, std::optional<T> &value,
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
        refuse(option, "'" + text + "'", names);
    };
    return command.add_option(option, names, help, parse);
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
