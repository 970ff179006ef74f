/** Rotation frequencies by the rules of model configurations. */
#ifndef GYRE_FREQUENCIES_H
#define GYRE_FREQUENCIES_H

#include "status.h"

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A rule for the rotation frequencies, by the parameter names of model configurations. Zero means "not given": the
 *  rule's own default, or an error where the rule needs it. What each reads: runtime/frequencies/frequencies.cpp. */
typedef struct gyre_frequency_rule {
    uint32_t size;
    const char *rope_type;                    /* default, linear, dynamic, yarn, longrope, llama3, proportional */
    double rope_theta;                        /* base of the geometric series, 10000 */
    double factor;                            /* stretch: wanted length / trained length, >= 1 */
    int64_t original_max_position_embeddings; /* tokens the model was trained on */
    int64_t max_position_embeddings;          /* tokens the model is configured for */
    double attention_factor;                  /* yarn, longrope: overrides the computed one */
    double beta_fast, beta_slow;              /* yarn: 32, 1 turns */
    double mscale, mscale_all_dim;            /* yarn */
    int32_t truncate;                         /* yarn: 1 (default) rounds the ramp's ends, 0 does not */
    const double *short_factor, *long_factor; /* longrope: [rotary_dim / 2] each */
    double low_freq_factor, high_freq_factor; /* llama3 */
    double partial_rotary_factor;             /* proportional: rotated share of the head */
} gyre_frequency_rule;

static inline gyre_frequency_rule gyre_frequency_defaults(void) {
    gyre_frequency_rule r;
    memset(&r, 0, sizeof r);
    r.size = (uint32_t)sizeof r;
    r.rope_type = "default";
    r.rope_theta = 10000.0;
    r.truncate = 1;
    return r;
}

/** inv_freq[i], i in [0, rotary_dim / 2): radians a token; and the factor s that cos and sin are multiplied by.
 *  length: tokens of the sequence, read by dynamic and longrope; 0: not known. Computed in double.
 *  Errors: BAD_ARGUMENT (null, unknown rule, a missing or impossible parameter), BAD_SHAPE (rotary_dim odd, <= 0 or
 *  above head_dim). */
GYRE_API gyre_status gyre_frequencies(const gyre_frequency_rule *rule, int32_t rotary_dim, int32_t head_dim,
                                      int64_t length, double *inv_freq, double *attention_factor);

GYRE_LAYOUT(gyre_frequency_rule, partial_rotary_factor, 136, 128, 120, 112);

#ifdef __cplusplus
}
#endif
#endif
