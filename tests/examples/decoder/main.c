/* Takes a prompt of 12 tokens in chunks, then goes on with the likeliest token until there are 32; compares the logits of each
 * step with those in double. */
#include "board.h"
#include "decoder.h"
#include "weights.h"

/* The reference rounds its cache to 8 bits as well. Where a value lies halfway between two steps, f32 and double may take different
 * ones, which moves a logit by up to 2e-3. */
static const float most_error = 5e-3f;

static void write_number(const char *what, uint32_t number) {
    char text[12], *p = text + sizeof text - 1;
    *p = 0;
    *--p = '\n';
    do *--p = (char)('0' + number % 10);
    while (number /= 10);
    board_write(what);
    board_write(p);
}

static float larger(float a, float b) { return a >= b ? a : b; }

static float distance(const float *a, const float *b) {
    float largest = 0;
    for (int32_t i = 0; i < VOCABULARY; i++) largest = larger(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i], largest);
    return largest;
}

static uint8_t likeliest(const float *logits) {
    int32_t best = 0;
    for (int32_t i = 1; i < VOCABULARY; i++) best = logits[i] > logits[best] ? i : best;
    return (uint8_t)best;
}

int demo(void) {
    static float logits[VOCABULARY];
    uint8_t tokens[TOKENS + 1];
    float error = 0;
    int bad = decoder_begin();
    for (int32_t t = 0; t < PROMPT; t++) tokens[t] = decoder_golden_tokens[0][t];
    const uint32_t start = board_instructions();
    for (int32_t held = 0; held < TOKENS && !bad;) {
        const int32_t prompt = PROMPT - held;
        const int32_t count = prompt > CHUNK ? CHUNK : prompt > 0 ? prompt : 1;
        bad = decoder_step(tokens + held, count, logits);
        held += count;
        error = larger(distance(logits, decoder_golden_logits[held - 1]), error);
        if (held >= PROMPT) tokens[held] = likeliest(logits);
    }
    const uint32_t instructions = board_instructions() - start;
    if (!bad) {
        for (int32_t t = 0; t <= TOKENS; t++) bad |= tokens[t] != decoder_golden_tokens[0][t];
        bad |= !(error <= most_error);
        write_number("largest error of a logit, millionths: ", (uint32_t)(error * 1e6f));
        write_number("instructions, about: ", instructions);
        write_number("  of rotation, quantisation and attention: ", decoder_attention_instructions());
    }
    board_write(bad ? "32 tokens: other than in double\n" : "32 tokens: as in double\n");
    return bad;
}
