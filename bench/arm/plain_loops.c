#include "plain_loops.h"

#include <float.h>
#include <math.h>

/* PREFIX, from the build: plain_ or plain_fast_. */
#define JOIN_AGAIN(prefix, name) prefix##name
#define JOIN(prefix, name) JOIN_AGAIN(prefix, name)
#define PLAIN(name) JOIN(PREFIX, name)

enum { most_features = 128 };

void PLAIN(rotary_f32) ROTARY_PARAMETERS {
    const int pairs = dim / 2;
    for (int t = 0; t < tokens; t++)
        for (int h = 0; h < heads; h++) {
            const float *first = x + (t * heads + h) * dim, *second = first + pairs;
            const float *c = cos + t * pairs, *s = sin + t * pairs;
            float *to = out + (t * heads + h) * dim;
            for (int i = 0; i < pairs; i++) {
                to[i] = first[i] * c[i] - second[i] * s[i];
                to[i + pairs] = second[i] * c[i] + first[i] * s[i];
            }
        }
}

/* Two passes over the keys, the second along features, so that its inner loop is a vector loop. */
#define ATTENTION(NAME, TYPE)                                                                                          \
    void PLAIN(NAME) ATTENTION_PARAMETERS(TYPE) {                                                                      \
        for (int i = 0; i < queries; i++) {                                                                            \
            float most = -FLT_MAX, sum = 0, weighted[most_features] = {0};                                             \
            for (int j = 0; j < keys; j++) {                                                                           \
                float score = 0;                                                                                       \
                for (int d = 0; d < dim; d++) score += (float)q[i * dim + d] * (float)k[j * dim + d];                  \
                scores[j] = score * scale;                                                                             \
                most = scores[j] > most ? scores[j] : most;                                                            \
            }                                                                                                          \
            for (int j = 0; j < keys; j++) sum += scores[j] = expf(scores[j] - most);                                  \
            for (int j = 0; j < keys; j++)                                                                             \
                for (int d = 0; d < dim; d++) weighted[d] += scores[j] * (float)v[j * dim + d];                        \
            for (int d = 0; d < dim; d++) out[i * dim + d] = (TYPE)(weighted[d] / sum);                                \
        }                                                                                                              \
    }

ATTENTION(attention_f32, float)
ATTENTION(attention_f16, half)
