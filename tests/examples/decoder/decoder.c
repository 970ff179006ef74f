#include "decoder.h"

#include "attention.h"
#include "board.h"
#include "weights.h"

static layer_cache caches[LAYERS];
static int32_t held; /* tokens of the caches */
static uint32_t attention_instructions;
static float x[CHUNK][D_MODEL], normed[CHUNK][D_MODEL], q[CHUNK][D_MODEL], k[CHUNK][HEAD_DIM], v[CHUNK][HEAD_DIM];
static float hidden[HIDDEN];

/** out[r] = scale * sum over i of weights[r][i] * in[i]. */
static void times(const int8_t *weights, int32_t rows, int32_t columns, float scale, const float *in, float *out) {
    for (int32_t r = 0; r < rows; r++, weights += columns) {
        float sum = 0;
        for (int32_t i = 0; i < columns; i++) sum += (float)weights[i] * in[i];
        out[r] = scale * sum;
    }
}

/** The processor's own square root: no libm. */
static void normalise(const float *in, float *out) {
    float sum = 0;
    for (int32_t i = 0; i < D_MODEL; i++) sum += in[i] * in[i];
    const float factor = 1 / __builtin_sqrtf(sum / D_MODEL + 1e-5f);
    for (int32_t i = 0; i < D_MODEL; i++) out[i] = factor * in[i];
}

static void add_feed_forward(const layer_weights *w, float *token) {
    float update[D_MODEL];
    normalise(token, normed[0]);
    times(w->up[0], HIDDEN, D_MODEL, 1.0f / 1024, normed[0], hidden);
    for (int32_t i = 0; i < HIDDEN; i++) hidden[i] = hidden[i] > 0 ? hidden[i] * hidden[i] : 0;
    times(w->down[0], D_MODEL, HIDDEN, 1.0f / 2048, hidden, update);
    for (int32_t i = 0; i < D_MODEL; i++) token[i] += update[i];
}

static int run_layer(const layer_weights *w, layer_cache *cache, int32_t count) {
    float update[D_MODEL];
    for (int32_t t = 0; t < count; t++) {
        normalise(x[t], normed[t]);
        times(w->q[0], D_MODEL, D_MODEL, 1.0f / 512, normed[t], q[t]);
        times(w->k[0], HEAD_DIM, D_MODEL, 1.0f / 1024, normed[t], k[t]);
        times(w->v[0], HEAD_DIM, D_MODEL, 1.0f / 1024, normed[t], v[t]);
    }
    const uint32_t start = board_instructions();
    const int status = attention_of_layer(cache, &q[0][0], &k[0][0], &v[0][0], held, count);
    attention_instructions += board_instructions() - start;
    if (status) return status;
    for (int32_t t = 0; t < count; t++) {
        times(w->o[0], D_MODEL, D_MODEL, 1.0f / 1024, q[t], update);
        for (int32_t i = 0; i < D_MODEL; i++) x[t][i] += update[i];
        add_feed_forward(w, x[t]);
    }
    return 0;
}

int decoder_begin(void) {
    held = 0;
    attention_instructions = 0;
    return attention_begin();
}

int decoder_step(const uint8_t *tokens, int32_t count, float logits[VOCABULARY]) {
    if (count < 1 || count > CHUNK || count > CAPACITY - held) return GYRE_EMBEDDED_BAD_SHAPE;
    int status = attention_angles(held, count);
    for (int32_t t = 0; t < count; t++)
        for (int32_t i = 0; i < D_MODEL; i++) x[t][i] = (float)decoder_embedding[tokens[t]][i] * (1.0f / 256);
    for (int layer = 0; layer < LAYERS && !status; layer++)
        status = run_layer(&decoder_layers[layer], &caches[layer], count);
    if (status) return status;
    held += count;
    normalise(x[count - 1], normed[0]);
    times(decoder_output[0], VOCABULARY, D_MODEL, 1.0f / 256, normed[0], logits);
    return 0;
}

uint32_t decoder_attention_instructions(void) { return attention_instructions; }
