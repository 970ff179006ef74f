/// Frequencies as a C header, for programs without an operating system (gyre/embedded.h).
#pragma once

#include <string>
#include <vector>

namespace gyre::cli {

/// Writes frequencies, in radians a token, as gyre_embedded_angles() takes them: turns a token, in units of 2^-64. `name` is what the
/// header's names begin with; where a program includes two headers of one name whose numbers differ, it does not compile. Throws
/// UsageError that names the option if a frequency is no part of a turn, and RunError.
void write_c_table(const std::string &option, const std::string &path, const std::string &name,
                   const std::vector<double> &frequencies, double attention_factor);

} // namespace gyre::cli
