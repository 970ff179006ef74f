#include "console/command.h"

#include "console/complaint.h"
#include "console/errors.h"
#include "console/reference.h"
#include "console/terminal.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <sstream>
#include <string>

namespace gyre::cli {
namespace {

/// "gyre bench rotary"
std::string command_line_of(const CLI::App &app) {
    const CLI::App *parent = app.get_parent();
    return (parent ? command_line_of(*parent) + " " : "") + app.get_name();
}

void require_command(const CLI::App &app) {
    const CLI::App &given = given_command(app);
    if (given.get_subcommands(nullptr).empty()) return;
    throw UsageError("no command given; expected one of" + names_of_commands(given));
}

int report(const CLI::App &app, const std::string &message, int exit_code) {
    std::fprintf(stderr, "%s\n", one_line(command_line_of(app) + ": " + message).c_str());
    return exit_code;
}

int report_usage(const Complaint &complaint) {
    const CLI::App &command = *complaint.command;
    return report(command, complaint.text + "; see " + command_line_of(command) + " --help", 2);
}

/// Prints what --help or --version asks for, and returns the exit code.
int tell(const CLI::App &app, const CLI::Success &asked) {
    std::ostringstream text;
    const int exit_code = app.exit(asked, text);
    std::string told = text.str();
    if (!told.empty() && told.back() == '\n') told.pop_back(); // which print() adds
    try {
        print(told);
    } catch (const RunError &error) {
        return report(app, error.what(), 1);
    }
    return exit_code;
}

} // namespace

void Option::require() const { option_->required(); }

void Option::make_value_optional(const std::string &value) const {
    option_->expected(0, 1);
    option_->default_str(value);
}

Command Command::add(const std::string &name, const std::string &help) const {
    return Command(*app_->add_subcommand(name, help), *passed_on_);
}

void Command::show_example(const std::string &line) const { app_->footer("Example:\n  " + line); }

void Command::hide() const { app_->group(""); }

void Command::add_flag(const std::string &option, bool &given, const std::string &help) const {
    app_->add_flag(option, given, help);
}

Option Command::add_option(const std::string &option, const std::string &kind, const std::string &help,
                           const std::function<void(const std::string &)> &parse) const {
    const auto checked = [parse](const std::string &text) {
        try {
            parse(text);
        } catch (const UsageError &error) {
            throw CLI::ValidationError(error.what());
        }
    };
    return Option(*app_->add_option_function<std::string>(option, checked, help)->type_name(kind));
}

void Command::add_option_list(const std::string &option, const std::string &kind, const std::string &help,
                              std::vector<std::string> &values, bool required) const {
    app_->add_option(option, values, help)->type_name(kind)->allow_extra_args(false)->required(required);
}

void Command::pass_on(const std::function<void(const Words &)> &run) const { (*passed_on_)[app_->get_name()] = run; }

void Command::run(const std::function<void()> &run) const { app_->callback(run); }

std::string Command::manual_page(const std::string &title) const { return cli::manual_page(*app_, title); }

std::string Command::completions(const Words &words) const { return cli::completions(*app_, words); }

int run_command_line(int argc, char **argv, const Program &program,
                     const std::function<void(const Command &)> &add_commands) {
    CLI::App app(program.description, program.name);
    app.footer(program.foot);
    app.set_version_flag("--version", [&program] { return program.version; });
    Command::PassedOn passed_on;
    add_commands(Command(app, passed_on));
    app.parse_complete_callback([&app] { require_command(app); });
    // The parser would take a word behind such a command for another command, if it is the name of one.
    const auto takes_all = argc > 1 ? passed_on.find(argv[1]) : passed_on.end();
    const auto given = [&]() -> const CLI::App & {
        return takes_all == passed_on.end() ? given_command(app) : *app.get_subcommand(takes_all->first);
    };
    try {
        if (takes_all == passed_on.end())
            app.parse(argc, argv);
        else
            takes_all->second(Command::Words(argv + 2, argv + argc));
        return 0;
    } catch (const CLI::Success &help_or_version) {
        const auto complaint = complaint_of_unknown_command(app);
        return complaint ? report_usage(*complaint) : tell(app, help_or_version);
    } catch (const CLI::ParseError &error) {
        const bool other_fault = !dynamic_cast<const CLI::ExtrasError *>(&error);
        return report_usage(
            complaint_of_unknown(app, given(), other_fault).value_or(Complaint{&given(), error.what()}));
    } catch (const UsageError &error) {
        return report(given(), error.what(), 2);
    } catch (const std::bad_alloc &) {
        return report(given(), "out of memory", 1);
    } catch (const std::exception &error) {
        return report(given(), error.what(), 1);
    }
}

} // namespace gyre::cli
