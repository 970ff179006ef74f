/* Angles in fixed point: a turn is 2^64, so that a product with a position wraps as the angle does, and is exact. */
#include "check.h"

gyre_embedded_status gyre_embedded_angles(const uint64_t *frequencies, int32_t pairs, int32_t first, int32_t rows,
                                          float scale, float *table) {
    if (pairs < 1 || pairs > largest_head_dim / 2 || rows < 0 || rows > largest_extent) return GYRE_EMBEDDED_BAD_SHAPE;
    if (first < 0 || rows - 1 > INT32_MAX - first) return GYRE_EMBEDDED_BAD_ARGUMENT;
    if (rows == 0) return GYRE_EMBEDDED_OK;
    if (!is_aligned(frequencies, sizeof *frequencies) || !is_aligned(table, sizeof *table))
        return GYRE_EMBEDDED_BAD_ARGUMENT;
    for (int32_t row = 0; row < rows; row++, table += 2 * pairs) {
        for (int32_t i = 0; i < pairs; i++) {
            const uint64_t angle = frequencies[i] * (uint32_t)(first + row);
            const uint32_t turns = (uint32_t)((angle + 0x80000000u) >> 32);
            const uint32_t shifted = turns + 0x20000000u; /* by an eighth: quarter turns centred on multiples of one */
            const uint32_t quarter = shifted >> 30;
            const float r =
                (float)((int32_t)(shifted & 0x3fffffffu) - 0x20000000) * 1.46291807927e-9f; /* 2 pi / 2^32 */
            const float u = r * r;
            /* Minimax on [-pi/4, pi/4], as generators/common/transcendental.cpp has them. */
            const float sine = r + r * u * (-0.166666549437f + u * (0.00833217814574f + u * -0.000195172989374f));
            const float cosine =
                (1.0f - 0.5f * u) + u * u * (0.0416666468664f + u * (-0.0013887367515f + u * 2.44384515162e-05f));
            const float s = quarter & 1 ? cosine : sine, c = quarter & 1 ? sine : cosine;
            table[i] = scale * ((quarter + 1) & 2 ? -c : c);
            table[pairs + i] = scale * (quarter & 2 ? -s : s);
        }
    }
    return GYRE_EMBEDDED_OK;
}
