/// Options that are declared where their values are: a member of a DeclaredOptions is one line, which has its name, what it takes
/// and its help. The line adds it to commands, and tells which argument of the library it is: --window-left is window_left.
#pragma once

#include "options/library_errors.h"
#include "options/option_values.h"

#include <algorithm>
#include <functional>

namespace gyre::cli {

class DeclaredOptions {
public:
    DeclaredOptions() = default;
    DeclaredOptions(const DeclaredOptions &) = delete; // members are known by their addresses
    DeclaredOptions &operator=(const DeclaredOptions &) = delete;

    /// Adds them in the order of their declaration.
    void add_to(const Command &command) const {
        for (const auto &add : adders_) add(command);
    }

    /// Options whose values are no files; what stands for a file's argument is known once the file is.
    const ArgumentNames &argument_names() const { return names_; }

    void declare(std::function<void(const Command &)> add) { adders_.push_back(std::move(add)); }
    void declare(const char *option, std::function<void(const Command &)> add) {
        names_.emplace_back(argument_of(option), option);
        declare(std::move(add));
    }

    static std::string argument_of(const std::string &option) {
        std::string argument = option.substr(option.find_first_not_of('-'));
        std::replace(argument.begin(), argument.end(), '-', '_');
        return argument;
    }

private:
    std::vector<std::function<void(const Command &)>> adders_;
    ArgumentNames names_;
};

/// What a function adds to a command: one option or several.
template <typename T>
struct Declared : T {
    Declared(DeclaredOptions &of, void (*add)(const Command &, T &)) {
        of.declare([this, add](const Command &command) { add(command, *this); });
    }
};

struct WholeNumber : std::optional<std::int64_t> {
    WholeNumber(DeclaredOptions &of, const char *option, std::int64_t least, std::int64_t most, const char *help) {
        of.declare(option,
                   [=](const Command &command) { add_whole_number(command, option, *this, least, most, help); });
    }
};

struct Seed : std::optional<std::uint64_t> {
    Seed(DeclaredOptions &of, const char *option, const char *help) {
        of.declare(option, [=](const Command &command) { add_seed(command, option, *this, help); });
    }
};

struct RealNumber : std::optional<double> {
    RealNumber(DeclaredOptions &of, const char *option, double least, const char *help) {
        of.declare(option,
                   [=](const Command &command) { add_real_number(command, option, *this, least, false, help); });
    }
};

template <typename T>
struct Choice : std::optional<T> {
    Choice(DeclaredOptions &of, const char *option, std::vector<std::pair<std::string, T>> choices, const char *help) {
        of.declare(option, [=](const Command &command) { add_choice<T>(command, option, *this, choices, help); });
    }
};

class Flag {
public:
    Flag(DeclaredOptions &of, const char *option, const char *help) {
        of.declare(option, [=](const Command &command) { command.add_flag(option, given_, help); });
    }
    operator bool() const { return given_; }

private:
    bool given_ = false;
};

/// The path of a tensor's file; empty: not given.
struct File : std::string {
    File(DeclaredOptions &of, const char *option, const char *kind, const char *help) : option(option) {
        of.declare([=](const Command &command) { add_text(command, option, *this, kind, help); });
    }
    const char *const option;
};

} // namespace gyre::cli
