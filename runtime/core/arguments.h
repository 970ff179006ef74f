/// Argument structures of callers that were built with an older header.
#pragma once
#include "core/error.h"

#include <cstring>

namespace gyre {

/// Whether the member that later versions may give a meaning to, if the structure has one, is 0.
template <typename Struct>
auto reserves(const Struct &s, int) -> decltype(!s.reserved) {
    return !s.reserved;
}
template <typename Struct>
bool reserves(const Struct &, long) {
    return true;
}

/// Copies the part of `given` that its builder knew over `defaults`. Errors: BAD_ARGUMENT (NULL; a size that no version
/// had; a reserved member that is not 0).
template <typename Struct>
gyre_status adopt(const Struct *given, const char *name, const Struct &defaults, size_t oldest_size, Struct *adopted) {
    if (!given) return refuse(GYRE_BAD_ARGUMENT, name, "got NULL");
    // A size between two members would leave half of a pointer.
    if (given->size < oldest_size || given->size > sizeof(Struct) || given->size % alignof(Struct) != 0)
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.size", name),
                      "got %u, expected %zu: fill the structure by its defaults function", given->size, sizeof(Struct));
    *adopted = defaults;
    std::memcpy(adopted, given, given->size);
    if (!reserves(*adopted, 0))
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.reserved", name),
                      "is not 0: fill the structure by its defaults function");
    return GYRE_OK;
}

} // namespace gyre
