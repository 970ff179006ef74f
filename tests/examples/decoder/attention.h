/* The attention of one layer over its cache. */
#ifndef ATTENTION_H
#define ATTENTION_H

#include <gyre/embedded.h>

#include "decoder.h"

/** Keys and values of one layer, rotated, in 8 bits, with a scale a token. */
typedef struct layer_cache {
    int8_t k[CAPACITY][HEAD_DIM], v[CAPACITY][HEAD_DIM];
    float k_scales[CAPACITY], v_scales[CAPACITY];
} layer_cache;

/** Forms the frequencies. 0: done. */
int attention_begin(void);

/** The table of positions [first, first + count), for all layers. 0: done. */
int attention_angles(int32_t first, int32_t count);

/** Rotates k and v, [count, HEAD_DIM], appends them to the cache at `first`, and replaces q, [count, HEADS, HEAD_DIM], by the
 *  result. 0: done. */
int attention_of_layer(layer_cache *cache, float *q, float *k, float *v, int32_t first, int32_t count);

#endif
