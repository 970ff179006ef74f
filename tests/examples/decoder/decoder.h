/* A decoder of two layers with a cache in int8: everything that a firmware needs beside its weights. */
#ifndef DECODER_H
#define DECODER_H

#include <stdint.h>

enum {
    D_MODEL = 128,
    HEAD_DIM = 64,
    HEADS = D_MODEL / HEAD_DIM, /* both read one head of the cache */
    LAYERS = 2,
    HIDDEN = 256,
    VOCABULARY = 64,
    CAPACITY = 32, /* tokens of the cache */
    CHUNK = 8      /* most tokens of a step: activations are for so many */
};

/** Forms the frequencies and empties the cache. 0: done. */
int decoder_begin(void);

/** Appends `count` tokens, at most CHUNK, to those that the cache holds. A prompt is taken in chunks, so that its length needs no
 *  memory. Gives the logits after the last one. 0: done; otherwise a gyre_embedded_status. */
int decoder_step(const uint8_t *tokens, int32_t count, float logits[VOCABULARY]);

/** Instructions spent in rotation, quantisation and attention since decoder_begin(), as the board counts them. */
uint32_t decoder_attention_instructions(void);

#endif
