#include <gyre/embedded_kernels.h>

#include "../boards/board.h"
#include "demo.h"
#include "golden.h"
#include "inputs.h"
#include "report.h"

enum { ROWS = 2 * HEADS, PAIRS = ROTARY_DIM / 2 };

static int16_t x[ROWS][HEAD_DIM], out[ROWS][HEAD_DIM], table[2][2][PAIRS];

/** Halves of the demo's vectors, which no rotation makes too large; exact in Q15. */
static float pairing_error(const gyre_embedded_rotary_kernel *kernel, const float golden[ROWS][HEAD_DIM], int reverse) {
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
    if (gyre_embedded_rotary(&args) != GYRE_EMBEDDED_OK) return 1;
    const uint32_t instructions = board_instructions() - before;
    if (board_tick && !reverse) report_number("instructions of rotary in Q15, about", instructions);
    float error = 0;
    if (reverse) {
        args.x = out;
        args.reverse = 1;
        if (gyre_embedded_rotary(&args) != GYRE_EMBEDDED_OK) return 1;
    }
    for (int row = 0; row < ROWS; row++) {
        for (int d = 0; d < HEAD_DIM; d++) {
            const float expected = reverse ? (float)x[row][d] : golden[row][d] * 16384;
            error = larger(distance((float)out[row][d], expected), error);
        }
    }
    return error / 32768;
}

int try_rotary_q15(void) {
    static uint64_t frequencies[PAIRS];
    int failures = report("frequencies", gyre_embedded_frequencies(10000, ROTARY_DIM, frequencies) == GYRE_EMBEDDED_OK);
    failures += report("angles in Q15", gyre_embedded_angles_q15(frequencies, PAIRS, FIRST_POSITION, 2,
                                                                 &table[0][0][0]) == GYRE_EMBEDDED_OK);
    for (uint32_t i = 0; i < ROWS * HEAD_DIM; i++)
        x[i / HEAD_DIM][i % HEAD_DIM] = (int16_t)(element(TENSOR_X, i) * 16384);
    failures += report_error("rotary in Q15, half", pairing_error(&gyre_rotary_q15_half, golden_half, 0), 5e-5f);
    failures += report_error("there and back", pairing_error(&gyre_rotary_q15_half, golden_half, 1), 1e-4f);
    failures += report_error("rotary in Q15, interleaved",
                             pairing_error(&gyre_rotary_q15_interleaved, golden_interleaved, 0), 5e-5f);

    static const int16_t most[2] = {32767, -32768};
    static const uint64_t eighth = (uint64_t)1 << 61;
    int16_t angle[2] = {0, 0}, large[2] = {0, 0};
    gyre_embedded_rotary_args args = {.size = sizeof args,
                                      .kernel = &gyre_rotary_q15_half,
                                      .x = most,
                                      .out = large,
                                      .tokens = 1,
                                      .heads = 1,
                                      .head_dim = 2,
                                      .rotary_dim = 2,
                                      .angles = angle};
    int ok = gyre_embedded_angles_q15(&eighth, 1, 1, 1, angle) == GYRE_EMBEDDED_OK;
    ok &= gyre_embedded_rotary(&args) == GYRE_EMBEDDED_OK && large[0] == 32767 && large[1] <= 1 && large[1] >= -1;
    failures += report("what is too large saturates", ok);

    static const int16_t odd[5] = {1, 3, 5, 7, 9}, a_half[2] = {16384, 0}; /* cosine and sine */
    int16_t halved[5] = {0, 0, 0, 0, 0};
    args.x = odd;
    args.out = halved;
    args.head_dim = 5;
    args.angles = a_half;
    ok = gyre_embedded_rotary(&args) == GYRE_EMBEDDED_OK && halved[0] == 1 && halved[1] == 2;
    for (int d = 2; d < 5; d++) ok &= halved[d] == odd[d];
    return failures + report("halves are rounded up, and what is beside the pair is copied", ok);
}
