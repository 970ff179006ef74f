#include "angles.h"

gyre_embedded_status gyre_embedded_angles(const uint64_t *frequencies, int32_t pairs, int32_t first, int32_t rows,
                                          float scale, float *table) {
    const gyre_embedded_status status = check_angles(frequencies, pairs, first, rows, table, sizeof *table);
    if (status != GYRE_EMBEDDED_OK) return status;
    for (int32_t row = 0; row < rows; row++, table += 2 * pairs) {
        for (int32_t i = 0; i < pairs; i++) {
            const reduced_angle angle = reduce(frequencies[i], first + row);
            const uint32_t quarter = angle.quarter;
            const float r = (float)angle.beyond * 1.46291807927e-9f; /* 2 pi / 2^32 */
            const float u = r * r;
            /* Minimax on [-pi/4, pi/4], as generators/math/transcendental.cpp has them. */
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
