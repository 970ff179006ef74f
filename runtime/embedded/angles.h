/* What tables of angles have in common: angles in fixed point. A turn is 2^64, so that a product with a position wraps as the
 * angle does, and is exact. */
#ifndef GYRE_EMBEDDED_ANGLES_H
#define GYRE_EMBEDDED_ANGLES_H

#include "check.h"

static inline gyre_embedded_status check_angles(const uint64_t *frequencies, int32_t pairs, int32_t first, int32_t rows,
                                                const void *table, size_t alignment) {
    if (pairs < 1 || pairs > largest_head_dim / 2 || rows < 0 || rows > largest_extent) return GYRE_EMBEDDED_BAD_SHAPE;
    if (first < 0 || rows - 1 > INT32_MAX - first) return GYRE_EMBEDDED_BAD_ARGUMENT;
    if (rows == 0) return GYRE_EMBEDDED_OK;
    if (!is_aligned(frequencies, sizeof *frequencies) || !is_aligned(table, alignment))
        return GYRE_EMBEDDED_BAD_ARGUMENT;
    return GYRE_EMBEDDED_OK;
}

/** An angle as a quarter turn, and what is beyond it: at most an eighth of a turn either way, in units of 2^-32 turns. */
typedef struct reduced_angle {
    uint32_t quarter;
    int32_t beyond;
} reduced_angle;

static inline reduced_angle reduce(uint64_t frequency, int32_t position) {
    const uint64_t angle = frequency * (uint32_t)position;
    const uint32_t turns = (uint32_t)((angle + 0x80000000u) >> 32);
    const uint32_t shifted = turns + 0x20000000u; /* by an eighth: quarter turns centred on multiples of one */
    const reduced_angle reduced = {shifted >> 30, (int32_t)(shifted & 0x3fffffffu) - 0x20000000};
    return reduced;
}

#endif
