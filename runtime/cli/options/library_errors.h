/// Says what the library refused in the words of the command line.
#pragma once

#include <gyre/gyre.h>

#include <string>
#include <utility>
#include <vector>

namespace gyre::cli {

/// Pairs of an argument's name, as gyre_last_error_argument() gives it, and the option (and file) that it came from.
using ArgumentNames = std::vector<std::pair<std::string, std::string>>;

/// Returns if the status is GYRE_OK. Otherwise throws, with gyre_last_error() behind the option that it is about:
/// UsageError for arguments that were refused, RunError for anything else.
void check(gyre_status status, const ArgumentNames &names);

} // namespace gyre::cli
