#include "arguments.h"

#include "demo.h"
#include "inputs.h"
#include "report.h"

float readable[SIZE + 1], angle_table[TOKENS][2][DIM / 2];
union writable writable;

static void poison(void) {
    for (size_t i = 0; i < sizeof writable.bytes; i++) writable.bytes[i] = 0x5a;
}

int refused(gyre_embedded_status status, gyre_embedded_status expected) {
    int written = 0;
    for (size_t i = 0; i < sizeof writable.bytes; i++) written |= writable.bytes[i] != 0x5a;
    return status != expected || written;
}

int misnamed(gyre_embedded_mistake mistake, const char *name) {
    if (!name) return mistake.argument || mistake.problem;
    if (!mistake.argument || !mistake.problem || !mistake.problem[0]) return 1;
    const char *found = mistake.argument;
    while (*found && *found == *name) {
        found++;
        name++;
    }
    return *found != *name;
}

static int wrong_angles(void) {
    const uint64_t one = 1;
    float *out = writable.as.out;
    uint64_t *frequencies = (uint64_t *)(void *)((uintptr_t)(writable.bytes + 7) / 8 * 8);
    int wrong = refused(gyre_embedded_angles(NULL, 1, 0, 1, 1, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_angles(&one, 1, 0, 1, 1, NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_angles(&one, 0, 0, 1, 1, out), GYRE_EMBEDDED_BAD_SHAPE);
    wrong += refused(gyre_embedded_angles(&one, 1, -1, 1, 1, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_angles(&one, 1, INT32_MAX, 2, 1, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_angles(&one, 1, 0, -1, 1, out), GYRE_EMBEDDED_BAD_SHAPE);
    wrong += refused(gyre_embedded_angles_q15(&one, 1, 0, 1, NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_angles_q15(&one, 0, 0, 1, (int16_t *)(void *)out), GYRE_EMBEDDED_BAD_SHAPE);
    wrong += refused(gyre_embedded_frequencies(1, 2, frequencies), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_frequencies(10000, 3, frequencies), GYRE_EMBEDDED_BAD_SHAPE);
    return wrong + refused(gyre_embedded_frequencies(10000, 2, NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
}

static int wrong_quantize_by_head(void) {
    int8_t *out = (int8_t *)writable.bytes;
    const float scales[2] = {0.01f, 0.02f}, negative[2] = {0.01f, -0.01f}, infinite[2] = {0, 1e38f * 10};
    int wrong = refused(gyre_embedded_quantize_by_head(NULL, 1, 2, DIM, scales, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_quantize_by_head(readable, 1, 2, DIM, NULL, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_quantize_by_head(readable, 1, 2, DIM, scales, NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_quantize_by_head(readable, 1, 2, DIM, negative, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_quantize_by_head(readable, 1, 2, DIM, infinite, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_quantize_by_head(infinite, 2, 1, 1, scales, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong +=
        refused(gyre_embedded_quantize_by_head(writable.as.out, 1, 2, DIM, scales, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong +=
        refused(gyre_embedded_quantize_by_head(readable, 1, 2, DIM, writable.as.out, out), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_quantize_by_head(readable, -1, 2, DIM, scales, out), GYRE_EMBEDDED_BAD_SHAPE);
    wrong += refused(gyre_embedded_quantize_by_head(readable, 1, -1, DIM, scales, out), GYRE_EMBEDDED_BAD_SHAPE);
    wrong += refused(gyre_embedded_quantize_by_head(readable, 1, 2, 513, scales, out), GYRE_EMBEDDED_BAD_SHAPE);
    return wrong + refused(gyre_embedded_quantize_by_head(readable, 0, 2, DIM, scales, out), GYRE_EMBEDDED_OK);
}

static int wrong_quantize(void) {
    int8_t *out = (int8_t *)writable.bytes;
    float *scales = writable.as.lse;
    const float infinite[2] = {0, 1e38f * 10};
    int wrong = refused(gyre_embedded_quantize(NULL, 1, DIM, out, scales), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_quantize(readable, 1, DIM, NULL, scales), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_quantize(readable, 1, DIM, out, NULL), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_quantize(readable, 1, DIM, (int8_t *)scales, scales), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_quantize(writable.as.out, 1, DIM, out, scales), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_quantize(infinite, 2, 1, out, scales), GYRE_EMBEDDED_BAD_ARGUMENT);
    wrong += refused(gyre_embedded_quantize(readable, -1, DIM, out, scales), GYRE_EMBEDDED_BAD_SHAPE);
    wrong += refused(gyre_embedded_quantize(readable, 1, 0, out, scales), GYRE_EMBEDDED_BAD_SHAPE);
    return wrong + refused(gyre_embedded_quantize(readable, 0, DIM, out, scales), GYRE_EMBEDDED_OK);
}

int try_arguments(void) {
    fill(readable, TENSOR_X, 0, SIZE);
    poison();
    int failures = report("wrong arguments of attention are refused, and nothing is written", wrong_attention() == 0);
    failures += report("those of rotary", wrong_rotary() == 0);
    failures += report("those of quantisation", wrong_quantize() + wrong_quantize_by_head() == 0);
    return failures + report("those of angles and frequencies", wrong_angles() == 0);
}
