#include "console/python_script.h"

#include "console/errors.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace gyre::cli {

std::string script_path(const std::string &folder, const std::string &script) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    const fs::path path = program.parent_path().parent_path() / "share/gyre" / folder / (script + ".py");
    if (!fs::exists(path, error)) throw RunError(path.string() + " is missing: the program was moved without it");
    return path.string();
}

std::string python() {
    const char *chosen = std::getenv("GYRE_PYTHON");
    return chosen && *chosen ? chosen : "python3";
}

void become_tuner(const std::vector<std::string> &words) {
    std::vector<std::string> command = {python(), "-B", script_path("tune", "tune")};
    command.insert(command.end(), words.begin(), words.end());
    std::vector<char *> argv;
    for (std::string &word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    throw RunError(command[0] + " cannot be run: " + std::strerror(errno) +
                   "; gyre tune and gyre compare need Python 3 (name it in GYRE_PYTHON, or use cmake/go tune)");
}

} // namespace gyre::cli
