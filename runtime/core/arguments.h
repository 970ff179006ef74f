/// Argument structures of callers that were built with an older header.
#pragma once
#include "core/error.h"

#include <cstddef>
#include <cstdint>

namespace gyre {

/// The member that later versions may give a meaning to; NULL: the structure has none.
template <typename Struct>
auto reserved_in(const Struct &s, int) -> decltype(&s.reserved) {
    return &s.reserved;
}
template <typename Struct>
const void *const *reserved_in(const Struct &, long) {
    return nullptr;
}

/// Sizes that a structure has had: from the oldest version's to today's, in steps of its alignment. The oldest is where a later version's
/// first member begins, which on 32 bits need be no such step.
struct KnownSizes {
    size_t oldest, today, step;
};

/// adopt() of a structure that holds its defaults; `given` begins with its size.
gyre_status adopt_over(void *defaults, const void *given, const char *name, const KnownSizes &sizes,
                       const void *const *reserved);

/// Copies the part of `given` that its builder knew over `defaults`. Errors: BAD_ARGUMENT (NULL; a size that no version
/// had; a reserved member that is not 0).
template <typename Struct>
gyre_status adopt(const Struct *given, const char *name, const Struct &defaults, size_t oldest_size, Struct *adopted) {
    static_assert(offsetof(Struct, size) == 0 && sizeof(given->size) == sizeof(uint32_t),
                  "a structure begins with its size");
    *adopted = defaults;
    return adopt_over(adopted, given, name, {oldest_size, sizeof(Struct), alignof(Struct)}, reserved_in(*adopted, 0));
}

} // namespace gyre
