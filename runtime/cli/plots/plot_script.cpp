#include "plots/plot_script.h"

#include "console/errors.h"
#include "console/python_script.h"
#include "files/npy.h"
#include "files/output_file.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace gyre::cli {
namespace {

namespace fs = std::filesystem;

const int no_matplotlib = 3; // exit code of the scripts

class TemporaryFolder {
public:
    TemporaryFolder() : path_((fs::temp_directory_path() / "gyre-plot-XXXXXX").string()) {
        if (!mkdtemp(path_.data())) throw RunError(path_ + ": cannot be created: " + std::strerror(errno));
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;

    std::string file(const char *name) const { return (fs::path(path_) / name).string(); }

private:
    std::string path_;
};

/// Runs a program to its end and returns its exit code; negative: the signal that ended it. It does not inherit that
/// this process holds signals back. Throws RunError if it cannot be started.
int run_program(std::vector<std::string> words) {
    std::vector<char *> argv;
    for (std::string &word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int error = posix_spawnp(&child, argv[0], nullptr, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    int status = 0;
    while (!error && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    const bool not_started =
        error || (WIFEXITED(status) && WEXITSTATUS(status) == 127); // POSIX leaves both to the system
    if (not_started) {
        throw RunError(words[0] + " cannot be run" + (error ? std::string(": ") + std::strerror(error) : "") +
                       "; pictures need Python 3 with matplotlib (name it in GYRE_PYTHON), --data needs neither");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

} // namespace

void draw(const std::string &name, const Array &numbers, const std::string &picture,
          const std::vector<std::string> &words) {
    const SignalsHeld signals; // declared first, released last: after the temporary files are gone
    const std::string script = script_path("plots", name);
    const TemporaryFolder folder;
    const std::string data = folder.file("data.npy");
    const std::string drawn = folder.file("picture.png");
    write_npy({{data, &numbers}});
    std::vector<std::string> command = {python(), "-B", script, data, drawn};
    command.insert(command.end(), words.begin(), words.end());
    const int result = run_program(command);
    if (result == no_matplotlib) {
        throw RunError(python() + " has no matplotlib. Make a Python that has it, `python3 -m venv ~/gyre-python && "
                                  "~/gyre-python/bin/pip install matplotlib`, and name it, "
                                  "GYRE_PYTHON=~/gyre-python/bin/python; or take --data alone");
    }
    if (result < 0) throw RunError(script + ": ended by signal " + std::to_string(-result));
    if (result != 0) throw RunError(script + ": failed with exit code " + std::to_string(result));

    std::ifstream file(drawn, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    OutputFile out(picture);
    out.write(bytes.data(), bytes.size());
    out.commit();
}

} // namespace gyre::cli
