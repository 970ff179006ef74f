/// The per-thread error message behind gyre_last_error().
#pragma once
#include "gyre/gyre.h"

namespace gyre {

/// Stores the message, which names the argument, what it was and what was expected, and returns `status`.
gyre_status fail(gyre_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

} // namespace gyre

/// Leaves the function with the status of a check that failed.
#define GYRE_TRY(expression)                                                                                           \
    do {                                                                                                               \
        const gyre_status gyre_try_status = (expression);                                                              \
        if (gyre_try_status != GYRE_OK) return gyre_try_status;                                                        \
    } while (0)
