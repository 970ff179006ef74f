/// The message behind gyre_last_error(), and the name behind gyre_last_error_argument(): both are kept per thread.
#pragma once
#include "gyre/gyre.h"

namespace gyre {

/// The name of an argument, put together: ArgumentName("%s.sections[%d]", "rope", 1) is "rope.sections[1]".
class ArgumentName {
public:
    explicit ArgumentName(const char *format, ...) __attribute__((format(printf, 2, 3)));
    operator const char *() const { return text; }

private:
    char text[128];
};

/// Arguments that are refused while this lives on the thread are members of a structure: "q" is stored as "forward.q".
class MembersOf {
public:
    explicit MembersOf(const char *structure);
    ~MembersOf();
    MembersOf(const MembersOf &) = delete;
    MembersOf &operator=(const MembersOf &) = delete;

private:
    const char *const before;
};

/// Refuses a call for one of its arguments. Stores "argument: message", where the message says what the argument was and
/// what is expected, and the argument's name. Returns `status`.
gyre_status refuse(gyre_status status, const char *argument, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// The reasons to fail that are no argument's fault.
enum class Failure {
    unsupported = GYRE_UNSUPPORTED,
    out_of_memory = GYRE_OUT_OF_MEMORY,
    internal = GYRE_INTERNAL,
};

/// Stores the message, and that no argument is to blame. Returns the failure's status.
gyre_status fail(Failure failure, const char *format, ...) __attribute__((format(printf, 2, 3)));

} // namespace gyre

/// Leaves the function with the status of a check that failed.
#define GYRE_TRY(expression)                                                                                           \
    do {                                                                                                               \
        const gyre_status gyre_try_status = (expression);                                                              \
        if (gyre_try_status != GYRE_OK) return gyre_try_status;                                                        \
    } while (0)
