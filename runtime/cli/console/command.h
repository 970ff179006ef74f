/// The commands of the program and their options. Only command.cpp includes CLI11, which takes seconds to compile.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace gyre::cli {

/// An option that takes a value.
class Option {
public:
    explicit Option(CLI::Option &option) : option_(&option) {}

    /// Its absence is an error.
    void require() const;
    /// It may be given without a value, and then has this one.
    void make_value_optional(const std::string &value) const;

private:
    CLI::Option *option_;
};

/// `gyre`, or a command of it such as `gyre bench rotary`. What it refers to lasts as long as the program.
class Command {
public:
    using Words = std::vector<std::string>;
    /// Commands that read everything behind their names themselves.
    using PassedOn = std::map<std::string, std::function<void(const Words &)>>;

    Command(CLI::App &app, PassedOn &passed_on) : app_(&app), passed_on_(&passed_on) {}

    /// A command of this one.
    Command add(const std::string &name, const std::string &help) const;
    /// What the help ends with: a line that can be copied.
    void show_example(const std::string &line) const;
    /// No help shows this command.
    void hide() const;
    /// An option without a value.
    void add_flag(const std::string &option, bool &given, const std::string &help) const;
    /// `parse` takes the value, or throws UsageError. An option without leading dashes is a word by its place. kind: what stands for the value in the help.
    Option add_option(const std::string &option, const std::string &kind, const std::string &help,
                      const std::function<void(const std::string &)> &parse) const;
    /// An option that may be given several times, with one value each time; at least once if it is required.
    void add_option_list(const std::string &option, const std::string &kind, const std::string &help,
                         std::vector<std::string> &values, bool required) const;
    /// Everything behind this command's name goes to `run`, --help and the names of other commands, too. Only for commands of
    /// the program itself.
    void pass_on(const std::function<void(const Words &)> &run) const;
    /// What the command does once all options have been read.
    void run(const std::function<void()> &run) const;
    /// manual_page() and completions() of this command, see console/reference.h.
    std::string manual_page(const std::string &title) const;
    std::string completions(const Words &words) const;

private:
    CLI::App *app_;
    PassedOn *passed_on_;
};

struct Program {
    std::string name;
    std::string description;
    std::string version;
    // NOLINTNEXTLINE(readability-redundant-member-init): GCC warns of programs that leave it out.
    std::string foot{}; // what help ends with
};

/// Reads the command line and runs the command that it names. `add_commands` adds commands to the program, or what it runs
/// without any. Returns the exit code; says on stderr, in one line, what went wrong.
int run_command_line(int argc, char **argv, const Program &program,
                     const std::function<void(const Command &)> &add_commands);

} // namespace gyre::cli
