/// What the runner tells whoever started it: one JSON object a line on stdout, flushed at once, so that what was said
/// before a crash is known.
#pragma once

#include "json/json_output.h"

#include <stdexcept>

namespace gyre::tune {

/// {"event": name}, for fields to be added.
cli::JsonObject event(const char *name);

/// Prints an event.
void tell(const cli::JsonObject &event);

/// A library that cannot be loaded or run: exit code 1.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A library whose results are not what they should be: exit code 1.
struct WrongResult : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace gyre::tune
