#include "console/complaint.h"

#include "console/suggestion.h"

#include <algorithm>
#include <vector>

namespace gyre::cli {
namespace {

std::string option_like(const CLI::App &command, const std::string &word) {
    std::vector<std::string> known;
    for (const CLI::Option *option : command.get_options()) known.push_back(option->get_name());
    return most_similar(word.substr(0, word.find('=')), known);
}

/// What to say about a word that is no option or command where it stands, behind `command`.
std::string unknown(const CLI::App &command, const CLI::App &given, const std::string &word) {
    if (word[0] == '-') {
        const std::string here = option_like(command, word);
        if (!here.empty()) return word + ": no such option; did you mean " + here + "?";
        const std::string further_down = option_like(given, word);
        if (further_down.empty()) return word + ": no such option";
        return word + ": no such option; did you mean " + further_down + " behind " + given.get_name() + "?";
    }
    if (command.get_subcommands(nullptr).empty()) return "'" + word + "': not expected; expected options alone";
    return "'" + word + "': no such command; expected one of" + names_of_commands(command);
}

} // namespace

const CLI::App &given_command(const CLI::App &app) {
    const std::vector<CLI::App *> given = app.get_subcommands();
    return given.empty() ? app : given_command(*given.back());
}

std::string names_of_commands(const CLI::App &app) {
    std::string names;
    for (const CLI::App *command : app.get_subcommands(nullptr))
        if (!command->get_group().empty()) names += " " + command->get_name();
    return names;
}

std::optional<Complaint> complaint_of_unknown(const CLI::App &command, const CLI::App &given, bool options_alone) {
    const std::vector<std::string> words = command.remaining();
    const auto is_option = [](const std::string &word) { return word[0] == '-'; };
    auto first = std::find_if(words.begin(), words.end(), is_option);
    if (first == words.end() && !options_alone) first = words.begin();
    if (first != words.end()) return Complaint{&command, unknown(command, given, *first)};
    for (const CLI::App *next : command.get_subcommands())
        if (auto complaint = complaint_of_unknown(*next, given, options_alone)) return complaint;
    return std::nullopt;
}

std::optional<Complaint> complaint_of_unknown_command(const CLI::App &command) {
    if (command.get_subcommands(nullptr).empty()) return std::nullopt;
    for (const std::string &word : command.remaining())
        if (word[0] != '-') return Complaint{&command, unknown(command, command, word)};
    for (const CLI::App *next : command.get_subcommands())
        if (auto complaint = complaint_of_unknown_command(*next)) return complaint;
    return std::nullopt;
}

} // namespace gyre::cli
