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
    gyre_embedded_rotary_args args = {kernel,          x, out, 2, HEADS, HEAD_DIM, ROTARY_DIM, ROTARY_OFFSET,
                                      &table[0][0][0], 0};
    const uint32_t before = board_instructions();
    int failures = report("rotary runs", gyre_embedded_rotary(&args) == GYRE_EMBEDDED_OK);
    const uint32_t instructions = board_instructions() - before;
    float error = 0, there_and_back = 0;
    for (int row = 0; row < ROWS; row++)
        for (int d = 0; d < HEAD_DIM; d++) error = larger(distance(out[row][d], golden[row][d]), error);
    args.x = out, args.reverse = 1;
    failures += report("rotary runs in place", gyre_embedded_rotary(&args) == GYRE_EMBEDDED_OK);
    for (int row = 0; row < ROWS; row++)
        for (int d = 0; d < HEAD_DIM; d++) there_and_back = larger(distance(out[row][d], x[row][d]), there_and_back);
    if (board_tick) report_number("instructions of rotary, 2 tokens, 4 heads, 16 pairs, about", instructions);
    return failures + report_error(what, error, 2e-6f) + report_error(back, there_and_back, 1e-6f);
}

int try_rotary(void) {
    static uint64_t frequencies[PAIRS];
    int failures = report("frequencies", gyre_embedded_frequencies(10000, ROTARY_DIM, frequencies) == GYRE_EMBEDDED_OK);
    failures += report("angles", gyre_embedded_angles(frequencies, PAIRS, FIRST_POSITION, 2, 1, &table[0][0][0]) ==
                                     GYRE_EMBEDDED_OK);
    fill(&x[0][0], TENSOR_X, 0, sizeof x / sizeof x[0][0]);
    failures += try_pairing("rotary, half", "there and back", &gyre_rotary_f32_half, golden_half);
    failures += try_pairing("rotary, interleaved", "there and back", &gyre_rotary_f32_interleaved, golden_interleaved);

    /* cos 1048575, sin 1048575 */
    const uint64_t one = gyre_embedded_frequency(1.0);
    float far[2] = {0, 0};
    failures += report("far angle", gyre_embedded_angles(&one, 1, 1048575, 1, 1, far) == GYRE_EMBEDDED_OK);
    const float error = larger(distance(far[0], FAR_COS), distance(far[1], FAR_SIN));
    return failures + report_error("cosine and sine of 1048575", error, 5e-7f);
}
