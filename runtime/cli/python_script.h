/// The Python scripts that lie beside this program, as they do once installed: share/gyre/<folder>/<script>.py.
#pragma once

#include <string>

namespace gyre::cli {

/// Throws RunError if the script is missing.
std::string script_path(const std::string &folder, const std::string &script);

/// The environment variable GYRE_PYTHON, or python3.
std::string python();

} // namespace gyre::cli
