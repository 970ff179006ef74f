#include "python_script.h"

#include "errors.h"

#include <cstdlib>
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

} // namespace gyre::cli
