#include "core/arguments.h"

#include <cstring>

namespace gyre {

gyre_status adopt_over(void *defaults, const void *given, const char *name, const KnownSizes &sizes,
                       const void *const *reserved) {
    if (!given) return refuse(GYRE_BAD_ARGUMENT, name, "got NULL");
    uint32_t size;
    std::memcpy(&size, given, sizeof size);
    // A size between two members would leave half of a pointer.
    const bool between_members = size % sizes.step != 0 && size != sizes.oldest;
    if (size < sizes.oldest || size > sizes.today || between_members)
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.size", name),
                      "got %u, expected %zu: fill the structure by its defaults function", size, sizes.today);
    std::memcpy(defaults, given, size);
    if (reserved && *reserved)
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.reserved", name),
                      "is not 0: fill the structure by its defaults function");
    return GYRE_OK;
}

} // namespace gyre
