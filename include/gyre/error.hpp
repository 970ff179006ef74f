/// @file
/// The exception of the C++ interface.
#ifndef GYRE_ERROR_HPP
#define GYRE_ERROR_HPP

#include "status.h"

#include <stdexcept>
#include <string>

namespace gyre {
inline namespace v0 { // keeps these names apart from the library's own

/// What a call that did not return GYRE_OK throws; what() is gyre_last_error(). The argument to blame is
/// gyre_last_error_argument(), on the thread that made the call.
class Error : public std::runtime_error {
public:
    /// A status other than GYRE_OK, and what was wrong.
    Error(gyre_status status, const std::string &what) : std::runtime_error(what), status_(status) {}
    /// What the call returned.
    gyre_status status() const noexcept { return status_; }

private:
    gyre_status status_;
};

/// Throws Error unless the status is GYRE_OK.
inline void check(gyre_status status) {
    if (status != GYRE_OK) throw Error(status, gyre_last_error());
}

} // namespace v0
} // namespace gyre
#endif
