#include "angles.h"

static int32_t times(int32_t a, int32_t b) { return (int32_t)(((int64_t)a * b) >> 30); } /* of numbers in Q30 */

static int16_t q15(int32_t q30) {
    const int32_t rounded = (q30 + (1 << 14)) >> 15;
    return (int16_t)(rounded > INT16_MAX ? INT16_MAX : rounded);
}

gyre_embedded_status gyre_embedded_angles_q15(const uint64_t *frequencies, int32_t pairs, int32_t first, int32_t rows,
                                              int16_t *table) {
    const gyre_embedded_status status = check_angles(frequencies, pairs, first, rows, table, sizeof *table);
    if (status != GYRE_EMBEDDED_OK) return status;
    for (int32_t row = 0; row < rows; row++, table += 2 * pairs) {
        for (int32_t i = 0; i < pairs; i++) {
            const reduced_angle angle = reduce(frequencies[i], first + row);
            const uint32_t quarter = angle.quarter;
            /* As in angles.c, in Q30. */
            const int32_t r = times(angle.beyond, 1686629713); /* pi / 2 */
            const int32_t u = times(r, r);
            const int32_t sine = r + times(times(r, u), -178956845 + times(u, 8946608 + times(u, -209565)));
            const int32_t cosine =
                (1 << 30) - u / 2 + times(times(u, u), 44739221 + times(u, -1491145 + times(u, 26241)));
            const int32_t s = quarter & 1 ? cosine : sine, c = quarter & 1 ? sine : cosine;
            table[i] = q15((quarter + 1) & 2 ? -c : c);
            table[pairs + i] = q15(quarter & 2 ? -s : s);
        }
    }
    return GYRE_EMBEDDED_OK;
}
