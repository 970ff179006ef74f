/* Rows in 8 bits by scales that are known: rounded to nearest, and saturated. */
#include <gyre/embedded.h>

#include "demo.h"
#include "inputs.h"
#include "report.h"

enum { TOKENS = 3, HEADS = 4, DIM = 37, SIZE = TOKENS * HEADS * DIM }; /* a last vector that is not full */

static float x[SIZE];
static int8_t out[SIZE + 1]; /* one of them to find what is written behind */

/** How far `out` is from x / scale, in steps; beyond 127 of them from 127. */
static float error_of(float value, float scale, int8_t found) {
    float steps = scale > 0 ? value / scale : 0;
    if (steps > 127) steps = 127;
    if (steps < -127) steps = -127;
    return distance(steps, (float)found);
}

int try_quantize(void) {
    static const float scales[HEADS] = {1.0f / 127, 0.001f, 0, 1e-29f}; /* none saturates; most; zeros; all, by far */
    fill(x, TENSOR_K, 0, SIZE);
    x[DIM + 1] = 3e38f;
    x[DIM + 2] = -3e38f;
    out[SIZE] = 77;
    const int bad = gyre_embedded_quantize_by_head(x, TOKENS, HEADS, DIM, scales, out);
    float error = 0;
    for (int32_t i = 0; i < SIZE; i++) error = larger(error_of(x[i], scales[i / DIM % HEADS], out[i]), error);
    return report_error("rows in 8 bits by a scale a head, in steps", bad ? 1 : error, 0.5001f) +
           report("  nothing is written behind them", out[SIZE] == 77);
}
