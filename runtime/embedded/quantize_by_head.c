/* Rows in 8 bits, by scales that are known. */
#include "quantize.h"

enum { largest_integer = 127 };

/** Rounds x * inverse to nearest, beyond 127 to 127. Beside `ones`, floats compare as their bits do as integers. */
static void round_within(const real *restrict x, int32_t dim, float inverse, int8_t *restrict out) {
    const int32_t least = ones_bits - largest_integer, most = ones_bits + largest_integer;
    int32_t d = 0;
#ifdef GYRE_EMBEDDED_MVE
    const float32x4_t ones_of_four = vdupq_n_f32(ones);
    for (; d + 4 <= dim; d += 4) {
        const float32x4_t sums = vfmaq_n_f32(ones_of_four, vld1q_f32(&x[d].value), inverse);
        const int32x4_t above = vmaxq_s32(vreinterpretq_s32_f32(sums), vdupq_n_s32(least));
        vstrbq_s32(out + d, vminq_s32(above, vdupq_n_s32(most))); /* the lowest byte of each */
    }
#endif
    for (; d < dim; d++) {
        const real sum = {x[d].value * inverse + ones};
        int32_t bits = (int32_t)sum.bits;
        bits = bits < least ? least : bits;
        bits = bits > most ? most : bits;
        out[d] = (int8_t)(uint8_t)bits;
    }
}

static gyre_embedded_status check(const real *x, int32_t rows, int32_t heads, int32_t dim, const float *scales,
                                  const int8_t *out) {
    const size_t size = (size_t)rows * (size_t)dim, scale_bytes = (size_t)heads * sizeof *scales;
    if (!is_aligned(x, sizeof *x) || !out || !is_aligned(scales, sizeof *scales)) return GYRE_EMBEDDED_BAD_ARGUMENT;
    if (overlap(x, size * sizeof *x, out, size) || overlap(out, size, scales, scale_bytes))
        return GYRE_EMBEDDED_BAD_ARGUMENT;
    for (int32_t head = 0; head < heads; head++)
        if (!(scales[head] >= 0 && scales[head] - scales[head] == 0)) return GYRE_EMBEDDED_BAD_ARGUMENT;
    return largest_bits(x, rows * dim) < infinity_bits ? GYRE_EMBEDDED_OK : GYRE_EMBEDDED_BAD_ARGUMENT;
}

gyre_embedded_status gyre_embedded_quantize_by_head(const float *x, int32_t tokens, int32_t heads, int32_t dim,
                                                    const float *scales, int8_t *out) {
    if (tokens < 0 || tokens > largest_extent || heads < 0 || heads > largest_extent || dim < 1 ||
        dim > largest_head_dim)
        return GYRE_EMBEDDED_BAD_SHAPE;
    if (tokens == 0 || heads == 0) return GYRE_EMBEDDED_OK;
    if (!dense_bytes(tokens, heads, dim, GYRE_EMBEDDED_F32)) return GYRE_EMBEDDED_BAD_SHAPE;
    const real *row = (const real *)(const void *)x;
    const gyre_embedded_status status = check(row, tokens * heads, heads, dim, scales, out);
    if (status != GYRE_EMBEDDED_OK) return status;
    for (int32_t token = 0; token < tokens; token++)
        for (int32_t head = 0; head < heads; head++, row += dim, out += dim)
            round_within(row, dim, scales[head] > 1e-30f ? 1 / scales[head] : 0, out);
    return GYRE_EMBEDDED_OK;
}
