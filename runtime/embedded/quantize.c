/* Rows in 8 bits. */
#include "check.h"

static float magnitude(float x) { return x < 0 ? -x : x; }

/** The largest magnitude of a row; no number if the row has one that is not finite. */
static float largest_of(const float *x, int32_t dim) {
    float largest = 0;
    for (int32_t d = 0; d < dim; d++) {
        if (!(x[d] - x[d] == 0)) return x[d] - x[d];
        if (magnitude(x[d]) > largest) largest = magnitude(x[d]);
    }
    return largest;
}

gyre_embedded_status gyre_embedded_quantize(const float *x, int32_t rows, int32_t dim, int8_t *out, float *scales) {
    if (rows < 0 || rows > largest_extent || dim < 1 || dim > largest_head_dim) return GYRE_EMBEDDED_BAD_SHAPE;
    if (rows == 0) return GYRE_EMBEDDED_OK;
    const size_t size = (size_t)rows * (size_t)dim, scale_bytes = (size_t)rows * sizeof *scales;
    if (!is_aligned(x, sizeof *x) || !out || !is_aligned(scales, sizeof *scales)) return GYRE_EMBEDDED_BAD_ARGUMENT;
    if (overlap(x, size * sizeof *x, out, size) || overlap(x, size * sizeof *x, scales, scale_bytes) ||
        overlap(out, size, scales, scale_bytes))
        return GYRE_EMBEDDED_BAD_ARGUMENT;
    for (int32_t row = 0; row < rows; row++) {
        const float largest = largest_of(x + row * dim, dim);
        if (!(largest - largest == 0)) return GYRE_EMBEDDED_BAD_ARGUMENT;
    }
    for (int32_t row = 0; row < rows; row++, x += dim, out += dim) {
        const float largest = largest_of(x, dim), scale = largest / 127, inverse = largest > 1e-30f ? 127 / largest : 0;
        scales[row] = inverse > 0 ? scale : 0;
        for (int32_t d = 0; d < dim; d++) {
            const float steps = x[d] * inverse;
            out[d] = (int8_t)(steps < 0 ? steps - 0.5f : steps + 0.5f);
        }
    }
    return GYRE_EMBEDDED_OK;
}
