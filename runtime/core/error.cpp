#include "core/error.h"

#include <cstdarg>
#include <cstdio>

namespace gyre {
namespace {

thread_local char message[4096] = "";         // as long as two lists of arguments
thread_local char blamed[128] = "";           // "" where no argument is to blame
thread_local const char *structure = nullptr; // of which the arguments are members

} // namespace

ArgumentName::ArgumentName(const char *format, ...) {
    va_list values;
    va_start(values, format);
    std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
}

MembersOf::MembersOf(const char *name) : before(structure) { structure = name; }
MembersOf::~MembersOf() { structure = before; }

gyre_status refuse(gyre_status status, const char *argument, const char *format, ...) {
    std::snprintf(blamed, sizeof blamed, "%s%s%s", structure ? structure : "", structure ? "." : "", argument);
    const int length = std::snprintf(message, sizeof message, "%s: ", blamed);
    va_list values;
    va_start(values, format);
    std::vsnprintf(message + length, sizeof message - static_cast<size_t>(length), format, values);
    va_end(values);
    return status;
}

gyre_status fail(Failure failure, const char *format, ...) {
    blamed[0] = '\0';
    va_list values;
    va_start(values, format);
    std::vsnprintf(message, sizeof message, format, values);
    va_end(values);
    return static_cast<gyre_status>(failure);
}

} // namespace gyre

extern "C" const char *gyre_last_error(void) { return gyre::message; }

extern "C" const char *gyre_last_error_argument(void) { return gyre::blamed[0] ? gyre::blamed : nullptr; }

extern "C" const char *gyre_status_string(gyre_status status) {
    switch (status) {
    case GYRE_OK:
        return "ok";
    case GYRE_BAD_ARGUMENT:
        return "bad argument";
    case GYRE_BAD_SHAPE:
        return "bad shape";
    case GYRE_BAD_TYPE:
        return "bad type";
    case GYRE_UNSUPPORTED:
        return "unsupported";
    case GYRE_WORKSPACE_TOO_SMALL:
        return "workspace too small";
    case GYRE_OUT_OF_MEMORY:
        return "out of memory";
    case GYRE_INTERNAL:
        return "internal error";
    }
    return "unknown status";
}

#define GYRE_TEXT(x) #x
#define GYRE_VERSION(major, minor, patch) GYRE_TEXT(major) "." GYRE_TEXT(minor) "." GYRE_TEXT(patch)
extern "C" const char *gyre_version(void) {
    return GYRE_VERSION(GYRE_VERSION_MAJOR, GYRE_VERSION_MINOR, GYRE_VERSION_PATCH);
}
