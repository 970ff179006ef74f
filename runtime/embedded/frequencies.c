/* Frequencies without a mathematical library. */
#include "check.h"

uint64_t gyre_embedded_frequency(double radians) {
    const double turns = radians * 0.15915494309189533577;
    return turns > 0 && turns < 1 ? (uint64_t)(turns * 18446744073709551616.0) : 0;
}

/** x with x^n = y, for 0 < y < 1: Newton's method from 1, since x^n is convex, comes down to it and never below. */
static double root(double y, int32_t n) {
    double x = 1;
    for (int32_t step = 0; step < 100; step++) {
        double power = 1; /* x^(n - 1) */
        for (int32_t i = 1; i < n; i++) power *= x;
        const double next = x - (x * power - y) / (n * power);
        if (next >= x) break;
        x = next;
    }
    return x;
}

gyre_embedded_status gyre_embedded_frequencies(double theta, int32_t rotary_dim, uint64_t *frequencies) {
    if (rotary_dim < 2 || rotary_dim > largest_head_dim || rotary_dim % 2) return GYRE_EMBEDDED_BAD_SHAPE;
    if (!(theta > 1 && theta < 1e30) || !is_aligned(frequencies, sizeof *frequencies))
        return GYRE_EMBEDDED_BAD_ARGUMENT;
    const double ratio = root(1 / theta, rotary_dim / 2);
    double frequency = 1;
    for (int32_t i = 0; i < rotary_dim / 2; i++, frequency *= ratio)
        frequencies[i] = gyre_embedded_frequency(frequency);
    return GYRE_EMBEDDED_OK;
}
