/// What ends a command early. main() turns it into one line on stderr and an exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace gyre::cli {

/// Bad usage or bad input: exit code 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A failure while running, such as a full disk: exit code 1.
struct RunError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws UsageError "subject: was; expected expected". subject: the option, and the file where there is one.
[[noreturn]] inline void refuse(const std::string &subject, const std::string &was, const std::string &expected) {
    throw UsageError(subject + ": " + was + "; expected " + expected);
}

} // namespace gyre::cli
