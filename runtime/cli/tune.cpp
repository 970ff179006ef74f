/// gyre tune: hands over to the Python program in bench/tune, which reads all further options itself.
#include "commands.h"

#include "errors.h"
#include "python_script.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace gyre::cli {
namespace {

/// This process becomes the Python program, so that signals and exit codes are its own.
[[noreturn]] void run(const std::vector<std::string> &options) {
    std::vector<std::string> words = {python(), "-B", script_path("tune", "tune")};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char *> argv;
    for (std::string &word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    throw RunError(words[0] + " cannot be run: " + std::strerror(errno) +
                   "; gyre tune needs Python 3 with optuna (name it in GYRE_PYTHON, or use cmake/go tune)");
}

} // namespace

void add_tune(CLI::App &app) {
    CLI::App &command =
        *app.add_subcommand("tune", "search the knobs of kernels on this machine, with Python and optuna");
    command.set_help_flag(); // --help is the Python program's, too
    command.prefix_command();
    command.callback([&command] { run(command.remaining()); });
}

} // namespace gyre::cli
