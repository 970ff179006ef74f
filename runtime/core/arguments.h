/// Argument structures of callers that were built with an older header.
#pragma once
#include "core/error.h"

#include <cstring>

namespace gyre {

/// Copies the part of `given` that its builder knew over `defaults`. Errors: BAD_ARGUMENT (NULL; a size that no version
/// had).
template <typename Struct>
gyre_status adopt(const Struct *given, const char *name, const Struct &defaults, size_t oldest_size, Struct *adopted) {
    if (!given) return refuse(GYRE_BAD_ARGUMENT, name, "got NULL");
    // A size between two members would leave half of a pointer.
    if (given->size < oldest_size || given->size > sizeof(Struct) || given->size % alignof(Struct) != 0)
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.size", name),
                      "got %u, expected %zu: fill the structure by its defaults function", given->size, sizeof(Struct));
    *adopted = defaults;
    std::memcpy(adopted, given, given->size);
    return GYRE_OK;
}

} // namespace gyre
