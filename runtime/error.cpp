#include "error.h"

#include <cstdarg>
#include <cstdio>

namespace gyre {
namespace {
thread_local char message[4096] = ""; // as long as two lists of arguments
}

gyre_status fail(gyre_status status, const char *format, ...) {
    va_list values;
    va_start(values, format);
    std::vsnprintf(message, sizeof message, format, values);
    va_end(values);
    return status;
}

} // namespace gyre

extern "C" const char *gyre_last_error(void) { return gyre::message; }

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
