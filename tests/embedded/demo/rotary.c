#include <gyre/embedded_kernels.h>

#include "../boards/board.h"
#include "demo.h"
#include "golden.h"
#include "inputs.h"
#include "report.h"

enum { ROWS = 2 * HEADS, PAIRS = ROTARY_DIM / 2 };

static float x[ROWS][HEAD_DIM], out[ROWS][HEAD_DIM], table[2][2][PAIRS];

static int try_pairing(const char *what, const char *back, const gyre_embedded_rotary_kernel *kernel,
                       const float golden[ROWS][HEAD_DIM]) {
    gyre_embedded_rotary_args args = {.size = sizeof args,
                                      .kernel = kernel,
                                      .x = x,
                                      .out = out,
                                      .tokens = 2,
                                      .heads = HEADS,
                                      .head_dim = HEAD_DIM,
                                      .rotary_dim = ROTARY_DIM,
                                      .rotary_offset = ROTARY_OFFSET,
                                      .angles = table};
    const uint32_t before = board_instructions();
    int failures = report("rotary runs", gyre_embedded_rotary(&args) == GYRE_EMBEDDED_OK);
    const uint32_t instructions = board_instructions() - before;
    float error = 0, there_and_back = 0;
    for (int row = 0; row < ROWS; row++)
        for (int d = 0; d < HEAD_DIM; d++) error = larger(distance(out[row][d], golden[row][d]), error);
    args.x = out;
    args.reverse = 1;
    failures += report("rotary runs in place", gyre_embedded_rotary(&args) == GYRE_EMBEDDED_OK);
    for (int row = 0; row < ROWS; row++)
        for (int d = 0; d < HEAD_DIM; d++) there_and_back = larger(distance(out[row][d], x[row][d]), there_and_back);
    if (board_tick) report_number("instructions of rotary, 2 tokens, 4 heads, 16 pairs, about", instructions);
    return failures + report_error(what, error, 2e-6f) + report_error(back, there_and_back, 1e-6f);
}

/** Windows of all sizes and places, against the definition, in place and back. */
static float window_error(const gyre_embedded_rotary_kernel *kernel, int32_t rotary_dim, int32_t offset) {
    static uint64_t frequencies[HEAD_DIM / 2];
    static float angles[HEAD_DIM];
    const int32_t pairs = rotary_dim / 2, half = kernel->pairing == GYRE_EMBEDDED_HALF;
    gyre_embedded_rotary_args args = {.size = sizeof args,
                                      .kernel = kernel,
                                      .x = x,
                                      .out = out,
                                      .tokens = 1,
                                      .heads = HEADS,
                                      .head_dim = HEAD_DIM,
                                      .rotary_dim = rotary_dim,
                                      .rotary_offset = offset,
                                      .angles = angles};
    int bad = gyre_embedded_frequencies(10000, rotary_dim, frequencies);
    bad |= gyre_embedded_angles(frequencies, pairs, FIRST_POSITION, 1, 1, angles) | gyre_embedded_rotary(&args);
    float error = bad ? 1 : 0;
    for (int row = 0; row < HEADS; row++) {
        for (int d = 0; d < HEAD_DIM; d++)
            if (d < offset || d >= offset + rotary_dim) error = larger(distance(out[row][d], x[row][d]), error);
        for (int i = 0; i < pairs; i++) {
            const int p = offset + (half ? i : 2 * i), q = p + (half ? pairs : 1);
            const float cosine = angles[i], sine = angles[pairs + i];
            error = larger(distance(out[row][p], x[row][p] * cosine - x[row][q] * sine), error);
            error = larger(distance(out[row][q], x[row][q] * cosine + x[row][p] * sine), error);
        }
    }
    args.x = out;
    args.reverse = 1;
    if (gyre_embedded_rotary(&args) != GYRE_EMBEDDED_OK) return 1;
    for (int row = 0; row < HEADS; row++)
        for (int d = 0; d < HEAD_DIM; d++) error = larger(distance(out[row][d], x[row][d]), error);
    return error;
}

static float worst_window(const gyre_embedded_rotary_kernel *kernel) {
    float error = 0;
    for (int32_t rotary_dim = 2; rotary_dim <= HEAD_DIM; rotary_dim += 2)
        for (int32_t offset = 0; offset <= HEAD_DIM - rotary_dim; offset += 13)
            error = larger(window_error(kernel, rotary_dim, offset), error);
    return error;
}

int try_rotary(void) {
    static uint64_t frequencies[PAIRS];
    int failures = report("frequencies", gyre_embedded_frequencies(10000, ROTARY_DIM, frequencies) == GYRE_EMBEDDED_OK);
    failures += report("angles", gyre_embedded_angles(frequencies, PAIRS, FIRST_POSITION, 2, 1, &table[0][0][0]) ==
                                     GYRE_EMBEDDED_OK);
    fill(&x[0][0], TENSOR_X, 0, sizeof x / sizeof x[0][0]);
    failures += try_pairing("rotary, half", "there and back", &gyre_rotary_f32_half, golden_half);
    failures += try_pairing("rotary, interleaved", "there and back", &gyre_rotary_f32_interleaved, golden_interleaved);
    failures += report_error("windows, half", worst_window(&gyre_rotary_f32_half), 1e-6f);
    failures += report_error("windows, interleaved", worst_window(&gyre_rotary_f32_interleaved), 1e-6f);

    /* cos 1048575, sin 1048575 */
    const uint64_t one = gyre_embedded_frequency(1.0);
    float far[2] = {0, 0};
    failures += report("far angle", gyre_embedded_angles(&one, 1, 1048575, 1, 1, far) == GYRE_EMBEDDED_OK);
    const float error = larger(distance(far[0], FAR_COS), distance(far[1], FAR_SIN));
    return failures + report_error("cosine and sine of 1048575", error, 5e-7f);
}
