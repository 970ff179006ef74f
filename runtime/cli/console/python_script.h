/// The Python scripts that lie beside this program, as they do once installed: share/gyre/<folder>/<script>.py.
#pragma once

#include <string>
#include <vector>

namespace gyre::cli {

/// Throws RunError if the script is missing.
std::string script_path(const std::string &folder, const std::string &script);

/// The environment variable GYRE_PYTHON, or python3.
std::string python();

/// This process becomes bench/tune/tune.py with these words, so that signals and exit codes are its own. Throws RunError if
/// that cannot be started.
[[noreturn]] void become_tuner(const std::vector<std::string> &words);

} // namespace gyre::cli
