#include "arguments.h"

int wrong_rotary(void) {
    const gyre_embedded_rotary_args good = {
        &gyre_rotary_f32_half, readable, writable.as.out, TOKENS, HEADS, DIM, DIM, 0, &angle_table[0][0][0], 0};
    int wrong = 0;
    wrong += refused(gyre_embedded_rotary(NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
    REFUSE(rotary, kernel = NULL, BAD_ARGUMENT);
    REFUSE(rotary, x = NULL, BAD_ARGUMENT);
    REFUSE(rotary, out = NULL, BAD_ARGUMENT);
    REFUSE(rotary, angles = NULL, BAD_ARGUMENT);
    REFUSE(rotary, x = writable.as.out + 1, BAD_ARGUMENT);
    REFUSE(rotary, angles = writable.as.out, BAD_ARGUMENT);
    REFUSE(rotary, x = (const char *)readable + 1, BAD_ARGUMENT);
    REFUSE(rotary, kernel = &gyre_rotary_q15_half; a.angles = (const char *)angle_table + 1, BAD_ARGUMENT);
    REFUSE(rotary, tokens = -1, BAD_SHAPE);
    REFUSE(rotary, heads = INT32_MAX, BAD_SHAPE);
    REFUSE(rotary, head_dim = 0, BAD_SHAPE);
    REFUSE(rotary, head_dim = 513, BAD_SHAPE);
    REFUSE(rotary, rotary_dim = 3, BAD_SHAPE);
    REFUSE(rotary, rotary_offset = 2, BAD_SHAPE);
    REFUSE(rotary, rotary_offset = -2, BAD_SHAPE);
    REFUSE(rotary, heads = 0, OK);
    return wrong;
}
