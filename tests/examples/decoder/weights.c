#include "weights.h"

#include "model.h" /* by model.py */

const layer_weights decoder_layers[LAYERS] = {{q_0, k_0, v_0, o_0, up_0, down_0}, {q_1, k_1, v_1, o_1, up_1, down_1}};
const int8_t (*const decoder_embedding)[D_MODEL] = embedding;
const int8_t (*const decoder_output)[D_MODEL] = output;
const uint8_t (*const decoder_golden_tokens)[TOKENS + 1] = golden_tokens;
const float (*const decoder_golden_logits)[VOCABULARY] = golden_logits;
