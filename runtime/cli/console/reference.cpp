#include "console/reference.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace gyre::cli {
namespace {

/// The commands of a command that its help shows.
std::vector<const CLI::App *> shown_commands(const CLI::App &command) {
    return command.get_subcommands([](const CLI::App *each) { return !each->get_group().empty(); });
}

std::string escaped(const std::string &text) {
    std::string result;
    for (const char c : text) {
        const bool begins_line = result.empty() || result.back() == '\n';
        if (begins_line && (c == '.' || c == '\'')) result += "\\&";
        if (c == '\\')
            result += "\\e";
        else if (c == '-')
            result += "\\-";
        else
            result += c;
    }
    return result;
}

std::string upper(std::string text) {
    for (char &c : text)
        if (c >= 'a' && c <= 'z') c = char(c - 'a' + 'A');
    return text;
}

void add_options(std::string &page, const CLI::App &command) {
    for (const CLI::Option *option : command.get_options()) {
        const std::string kind = option->get_items_expected_max() > 0 ? option->get_type_name() : "";
        page += ".TP\n\\fB" + escaped(option->get_name(false, true)) + "\\fR";
        if (!kind.empty()) page += " \\fI" + escaped(kind) + "\\fR";
        page += option->get_required() ? " (required)\n" : "\n";
        page += escaped(option->get_description()) + "\n";
    }
}

/// What the help says at its end, line by line as it stands.
void add_foot(std::string &page, const CLI::App &command) {
    const std::string foot = command.get_footer();
    if (!foot.empty()) page += ".PP\n.nf\n" + escaped(foot) + "\n.fi\n";
}

void add_command(std::string &page, const std::string &parent, const CLI::App &command) {
    const std::string name = parent + " " + command.get_name();
    page += ".SS " + escaped(name) + "\n" + escaped(command.get_description()) + "\n";
    add_options(page, command);
    add_foot(page, command);
    for (const CLI::App *next : shown_commands(command)) add_command(page, name, *next);
}

const CLI::App *command_named(const CLI::App &command, const std::string &name) {
    for (const CLI::App *each : shown_commands(command))
        if (each->get_name() == name) return each;
    return nullptr;
}

/// Both words of "left|right"; nothing of a kind that is no choice.
std::vector<std::string> choices_of(const CLI::Option &option) {
    std::vector<std::string> choices = CLI::detail::split(option.get_type_name(), '|');
    if (choices.size() < 2) choices.clear();
    return choices;
}

} // namespace

std::string manual_page(const CLI::App &program, const std::string &title) {
    const std::string name = program.get_name();
    std::string page = ".TH " + upper(name) + " 1 \"\" \"" + escaped(title) + "\" \"User Commands\"\n";
    page += ".SH NAME\n" + escaped(name) + " \\- " + escaped(program.get_description()) + "\n";
    page += ".SH SYNOPSIS\n.B " + escaped(name) + "\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
    page += ".SH OPTIONS\n";
    add_options(page, program);
    add_foot(page, program);
    page += ".SH COMMANDS\n";
    for (const CLI::App *command : shown_commands(program)) add_command(page, name, *command);
    return page;
}

std::string completions(const CLI::App &program, const std::vector<std::string> &words) {
    const CLI::App *command = &program;
    const CLI::Option *open = nullptr; // the option that the next word is for
    for (const std::string &word : words) {
        const bool is_value = open && (word.empty() || word[0] != '-');
        if (is_value) {
            open = nullptr;
            continue;
        }
        const CLI::Option *option = command->get_option_no_throw(word);
        open = option && option->get_items_expected_max() > 0 ? option : nullptr;
        if (const CLI::App *next = command_named(*command, word)) command = next;
    }
    std::vector<std::string> next;
    if (open) next = choices_of(*open);
    if (!open || open->get_items_expected_min() == 0) {
        for (const CLI::App *each : shown_commands(*command)) next.push_back(each->get_name());
        for (const CLI::Option *each : command->get_options())
            if (!each->get_positional()) next.push_back(each->get_name());
    }
    std::string lines;
    for (const std::string &word : next) lines += (lines.empty() ? "" : "\n") + word;
    return lines;
}

} // namespace gyre::cli
