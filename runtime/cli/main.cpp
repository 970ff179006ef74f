/// The program `gyre`: the library on the command line, for .npy files and for measuring. It calls the public C API
/// only.
///     exit code 0   done
///               2   bad usage or input: one line on stderr, no output file
///               1   a failure while running
#include "commands.h"
#include "errors.h"
#include "terminal.h"

#include <gyre/gyre.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <new>
#include <string>

namespace gyre::cli {
namespace {

/// "gyre bench rotary": the program and the commands given so far.
std::string command_line_of(const CLI::App &app) {
    std::string words = app.get_name();
    for (const CLI::App *command : app.get_subcommands()) words += " " + command_line_of(*command);
    return words;
}

int report(const CLI::App &app, const std::string &message, int exit_code) {
    std::fprintf(stderr, "%s\n", one_line(command_line_of(app) + ": " + message).c_str());
    return exit_code;
}

void require_command(const CLI::App &app) {
    if (app.get_subcommands().empty()) {
        std::string names;
        for (const CLI::App *command : app.get_subcommands(nullptr)) names += " " + command->get_name();
        throw UsageError("no command given; expected one of" + names);
    }
    for (const CLI::App *command : app.get_subcommands()) {
        if (!command->get_subcommands(nullptr).empty()) require_command(*command);
    }
}

int run(int argc, char **argv) {
    CLI::App app("Rotary embeddings, reverse-rotary attention and fused attention on .npy files.", "gyre");
    app.set_version_flag("--version", [] { return std::string("gyre ") + gyre_version(); });
    add_info(app);
    add_kernels(app);
    add_frequencies(app);
    add_rotary(app);
    add_attention(app);
    add_linear_attention(app);
    add_bench(app);
    add_plot(app);
    add_tune(app);
    app.parse_complete_callback([&app] { require_command(app); });
    try {
        app.parse(argc, argv);
        return 0;
    } catch (const CLI::Success &help_or_version) {
        return app.exit(help_or_version);
    } catch (const CLI::ParseError &error) {
        return report(app, std::string(error.what()) + "; see " + command_line_of(app) + " --help", 2);
    } catch (const UsageError &error) {
        return report(app, error.what(), 2);
    } catch (const std::bad_alloc &) {
        return report(app, "out of memory", 1);
    } catch (const std::exception &error) {
        return report(app, error.what(), 1);
    }
}

} // namespace
} // namespace gyre::cli

int main(int argc, char **argv) {
    try {
        return gyre::cli::run(argc, argv);
    } catch (...) { // reached only if even reporting fails
        return 1;
    }
}
