/* Rows in 8 bits, each with a scale of its own. */
#include "quantize.h"

/** Rounds x * inverse, at most 127 in magnitude, to nearest. gcc puts no
 *  arithmetic of floats into MVE's vectors unless it may reorder sums, so that these are spelled out. */
static void round_row(const real *restrict x, int32_t dim, float inverse, int8_t *restrict out) {
    int32_t d = 0;
#ifdef GYRE_EMBEDDED_MVE
    const float32x4_t ones_of_four = vdupq_n_f32(ones);
    for (; d + 4 <= dim; d += 4) {
        const float32x4_t sums = vfmaq_n_f32(ones_of_four, vld1q_f32(&x[d].value), inverse);
        vstrbq_s32(out + d, vreinterpretq_s32_f32(sums)); /* the lowest byte of each */
    }
#endif
    for (; d < dim; d++) {
        const real sum = {x[d].value * inverse + ones};
        out[d] = (int8_t)(uint8_t)sum.bits;
    }
}

gyre_embedded_status gyre_embedded_quantize(const float *x, int32_t rows, int32_t dim, int8_t *out, float *scales) {
    if (rows < 0 || rows > largest_extent || dim < 1 || dim > largest_head_dim) return GYRE_EMBEDDED_BAD_SHAPE;
    if (rows == 0) return GYRE_EMBEDDED_OK;
    const size_t size = (size_t)rows * (size_t)dim, scale_bytes = (size_t)rows * sizeof *scales;
    if (!is_aligned(x, sizeof *x) || !out || !is_aligned(scales, sizeof *scales)) return GYRE_EMBEDDED_BAD_ARGUMENT;
    if (overlap(x, size * sizeof *x, out, size) || overlap(x, size * sizeof *x, scales, scale_bytes) ||
        overlap(out, size, scales, scale_bytes))
        return GYRE_EMBEDDED_BAD_ARGUMENT;
    const real *row = (const real *)(const void *)x;
    if (largest_bits(row, rows * dim) >= infinity_bits) return GYRE_EMBEDDED_BAD_ARGUMENT;
    for (int32_t r = 0; r < rows; r++, row += dim, out += dim) {
        real largest;
        largest.bits = largest_bits(row, dim);
        const int is_zero = !(largest.value > 1e-30f);
        scales[r] = is_zero ? 0 : largest.value / 127;
        round_row(row, dim, is_zero ? 0 : 127 / largest.value, out);
    }
    return GYRE_EMBEDDED_OK;
}
