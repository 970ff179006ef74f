/// Pictures, drawn by the Python scripts of bench/plots.
#pragma once

#include "files/array.h"

#include <string>
#include <vector>

namespace gyre::cli {

/// Runs share/gyre/plots/<name>.py, which lies beside the folder of this program, with the environment variable
/// GYRE_PYTHON's Python or else python3. `words` are further arguments. The picture appears whole or not at all. Throws
/// RunError that says what is missing: Python, matplotlib, the script.
void draw(const std::string &name, const Array &numbers, const std::string &picture,
          const std::vector<std::string> &words = {});

} // namespace gyre::cli
