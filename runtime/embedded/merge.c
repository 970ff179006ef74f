#include "check.h"

enum { most_parts = 8 };

typedef union real {
    float value;
    uint32_t bits;
} real;

/** e^x for x <= 0, to 2^-22 of values above e^-5: 2^n 2^r, r in [-1/2, 1/2], by the series of 2^r. NaN gives NaN. */
static float exponential(float x) {
    if (!(x > -87.0f)) return x == x ? 0 : x;
    const float power = x * 1.44269504089f;
    const int32_t n = (int32_t)(power - 0.5f);
    const float r = power - (float)n;
    const float low = 0.00961812911f + r * (0.00133335581f + r * (0.000154035304f + r * 1.52527338e-05f));
    real y;
    y.value = 1.0f + r * (0.693147181f + r * (0.240226507f + r * (0.0555041087f + r * low)));
    y.bits += (uint32_t)n << 23;
    return y.value;
}

/** The natural logarithm for x in [1, 8]: log 2^n m, m in [0.7, 1.42), by the series of atanh. */
static float logarithm(float x) {
    float n = 0;
    for (; x > 1.41421356f; x *= 0.5f) n++;
    const float t = (x - 1) / (x + 1), u = t * t;
    return n * 0.69314718056f + 2 * t * (1 + u * (0.333333333f + u * (0.2f + u * (0.142857143f + u * 0.111111111f))));
}

/** True if they are the same place, or have none in common. */
static int is_apart(const void *from, size_t from_bytes, const void *to, size_t to_bytes) {
    return (from == to && from_bytes == to_bytes) || !overlap(from, from_bytes, to, to_bytes);
}

static gyre_embedded_status check(const gyre_embedded_part *parts, int32_t count, size_t bytes, size_t lse_bytes,
                                  const float *out, const float *lse) {
    if (!is_aligned(parts, sizeof(void *)) || count < 1 || count > most_parts) return GYRE_EMBEDDED_BAD_ARGUMENT;
    if (!is_aligned(out, sizeof *out) || (lse && !is_aligned(lse, sizeof *lse))) return GYRE_EMBEDDED_BAD_ARGUMENT;
    if (lse && overlap(out, bytes, lse, lse_bytes)) return GYRE_EMBEDDED_BAD_ARGUMENT;
    for (int32_t p = 0; p < count; p++) {
        const gyre_embedded_part *part = parts + p;
        if ((part->out && !is_aligned(part->out, sizeof *out)) || !is_aligned(part->lse, sizeof *lse))
            return GYRE_EMBEDDED_BAD_ARGUMENT;
        if (part->out &&
            (!is_apart(part->out, bytes, out, bytes) || (lse && overlap(part->out, bytes, lse, lse_bytes))))
            return GYRE_EMBEDDED_BAD_ARGUMENT;
        if (overlap(part->lse, lse_bytes, out, bytes) || (lse && !is_apart(part->lse, lse_bytes, lse, lse_bytes)))
            return GYRE_EMBEDDED_BAD_ARGUMENT;
    }
    return GYRE_EMBEDDED_OK;
}

/** One row of one head; `at` is its place among logarithms, `row` among elements. */
static void merge_row(const gyre_embedded_part *parts, int32_t count, size_t at, size_t row, int32_t dim, float *out,
                      float *lse) {
    static const real minus_infinity = {.bits = 0xff800000u};
    float weights[most_parts], largest = minus_infinity.value, sum = 0;
    for (int32_t p = 0; p < count; p++) largest = parts[p].lse[at] > largest ? parts[p].lse[at] : largest;
    for (int32_t p = 0; p < count; p++) {
        const float below = parts[p].lse[at] - largest; /* NaN where both are -inf, which weighs nothing */
        weights[p] = parts[p].lse[at] == minus_infinity.value ? 0 : exponential(below);
        sum += weights[p];
    }
    const float factor = sum > 0 ? 1 / sum : sum; /* 0: no part has keys; NaN stays */
    for (int32_t d = 0; d < dim; d++) {
        float total = factor == factor ? 0 : factor;
        for (int32_t p = 0; p < count; p++)
            if (weights[p] != 0 && parts[p].out) total += factor * weights[p] * parts[p].out[row + (size_t)d];
        out[row + (size_t)d] = total;
    }
    if (lse) lse[at] = sum == 0 ? minus_infinity.value : sum > 0 ? largest + logarithm(sum) : sum;
}

gyre_embedded_status gyre_embedded_attention_merge(const gyre_embedded_part *parts, int32_t count, int32_t tokens,
                                                   int32_t num_heads, int32_t head_dim, float *out, float *lse) {
    if (tokens < 0 || tokens > largest_extent || num_heads < 0 || num_heads > largest_extent || head_dim < 1 ||
        head_dim > largest_head_dim)
        return GYRE_EMBEDDED_BAD_SHAPE;
    if (tokens == 0 || num_heads == 0) return GYRE_EMBEDDED_OK;
    const size_t bytes = dense_bytes(tokens, num_heads, head_dim, GYRE_EMBEDDED_F32);
    if (!bytes) return GYRE_EMBEDDED_BAD_SHAPE;
    const gyre_embedded_status status = check(parts, count, bytes, bytes / (size_t)head_dim, out, lse);
    if (status != GYRE_EMBEDDED_OK) return status;
    for (int32_t token = 0; token < tokens; token++)
        for (int32_t head = 0; head < num_heads; head++)
            merge_row(parts, count, (size_t)head * (size_t)tokens + (size_t)token,
                      ((size_t)token * (size_t)num_heads + (size_t)head) * (size_t)head_dim, head_dim, out, lse);
    return GYRE_EMBEDDED_OK;
}
