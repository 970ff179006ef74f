#include "arguments.h"

int wrong_rotary(void) {
    const gyre_embedded_rotary_args good = {.size = sizeof good,
                                            .kernel = &gyre_rotary_f32_half,
                                            .x = readable,
                                            .out = writable.as.out,
                                            .tokens = TOKENS,
                                            .heads = HEADS,
                                            .head_dim = DIM,
                                            .rotary_dim = DIM,
                                            .angles = &angle_table[0][0][0]};
    int wrong = 0;
    wrong += refused(gyre_embedded_rotary(NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
    REFUSE(rotary, size = 0, size, BAD_ARGUMENT);
    REFUSE(rotary, size -= 4, size, BAD_ARGUMENT);
    REFUSE(rotary, kernel = NULL, kernel, BAD_ARGUMENT);
    REFUSE(rotary, x = NULL, x, BAD_ARGUMENT);
    REFUSE(rotary, out = NULL, out, BAD_ARGUMENT);
    REFUSE(rotary, angles = NULL, angles, BAD_ARGUMENT);
    REFUSE(rotary, x = writable.as.out + 1, x, BAD_ARGUMENT);
    REFUSE(rotary, angles = writable.as.out, angles, BAD_ARGUMENT);
    REFUSE(rotary, x = (const char *)readable + 1, x, BAD_ARGUMENT);
    REFUSE(rotary, kernel = &gyre_rotary_q15_half; a.angles = (const char *)angle_table + 1, angles, BAD_ARGUMENT);
    REFUSE(rotary, reverse = 5, reverse, BAD_ARGUMENT);
    REFUSE(rotary, reverse = -1, reverse, BAD_ARGUMENT);
    REFUSE(rotary, tokens = -1, tokens, BAD_SHAPE);
    REFUSE(rotary, heads = INT32_MAX, heads, BAD_SHAPE);
    REFUSE(rotary, head_dim = 0, head_dim, BAD_SHAPE);
    REFUSE(rotary, head_dim = 513, head_dim, BAD_SHAPE);
    REFUSE(rotary, rotary_dim = 3, rotary_dim, BAD_SHAPE);
    REFUSE(rotary, rotary_offset = 2, rotary_offset, BAD_SHAPE);
    REFUSE(rotary, rotary_offset = -2, rotary_offset, BAD_SHAPE);
    ACCEPT(rotary, heads = 0);
    return wrong;
}
