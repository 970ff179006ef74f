/// What to say about a command line that has a word which nobody expects.
#pragma once
#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace gyre::cli {

/// The command furthest down that was given: `bench rotary` of `gyre bench rotary --repeat 3`.
const CLI::App &given_command(const CLI::App &app);

/// The names of a command's commands, each behind a blank.
std::string names_of_commands(const CLI::App &app);

/// A sentence about the command that it is to be reported by.
struct Complaint {
    const CLI::App *command;
    std::string text;
};

/// Complains about the first option that nobody knows, or else about the first word that nobody expected, on the way from the program to
/// the command that was given. What follows an option that lacks its value is not expected either, so where something else is
/// wrong only options count.
std::optional<Complaint> complaint_of_unknown(const CLI::App &command, const CLI::App &given, bool options_alone);

/// Complains about the first word that stands where a command is expected and is none, though help is asked for: the help would be another command's.
std::optional<Complaint> complaint_of_unknown_command(const CLI::App &command);

} // namespace gyre::cli
