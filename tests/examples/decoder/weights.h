/* The weights, in flash, as model.py writes them: rows of int8, and one scale a matrix. */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "decoder.h"

typedef struct layer_weights {
    const int8_t (*q)[D_MODEL], (*k)[D_MODEL], (*v)[D_MODEL], (*o)[D_MODEL], (*up)[D_MODEL], (*down)[HIDDEN];
} layer_weights;

extern const layer_weights decoder_layers[LAYERS];
extern const int8_t (*const decoder_embedding)[D_MODEL];
extern const int8_t (*const decoder_output)[D_MODEL];

/** What the model gives in double: the tokens, the prompt's among them, and the logits after each. */
enum { PROMPT = 12, TOKENS = 32 };
extern const uint8_t (*const decoder_golden_tokens)[TOKENS + 1];
extern const float (*const decoder_golden_logits)[VOCABULARY];

#endif
