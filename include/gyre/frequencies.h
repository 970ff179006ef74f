/** @file
 *  Rotation frequencies by the rules of model configurations. */
#ifndef GYRE_FREQUENCIES_H
#define GYRE_FREQUENCIES_H

#include "status.h"

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A rule for the rotation frequencies, by the parameter names of model configurations. Zero means "not given": the
 *  rule's own default, or an error where the rule needs it.
 *
 *      rope_type      needs                                              also reads, beside rope_theta
 *      default
 *      linear         factor
 *      dynamic        factor, max_position_embeddings                    length
 *      yarn           trained length, factor                             attention_factor, beta_fast, beta_slow, mscale,
 *                                                                        mscale_all_dim, truncate
 *      longrope       trained length, short_factor, long_factor,         attention_factor, length
 *                     factor without attention_factor
 *      llama3         trained length, factor, low_freq_factor,
 *                     high_freq_factor
 *      proportional                                                      partial_rotary_factor, factor, both 1 if not given
 *
 *  The trained length is original_max_position_embeddings, else max_position_embeddings. yarn and longrope take for a factor that is
 *  not given max_position_embeddings divided by the trained length. */
typedef struct gyre_frequency_rule {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** "default", "linear", "dynamic", "yarn", "longrope", "llama3" or "proportional". */
    const char *rope_type;
    /** Base of the geometric series; the defaults say 10000. */
    double rope_theta;
    /** Stretch: wanted length / trained length, at least 1. */
    double factor;
    /** Tokens that the model was trained on. */
    int64_t original_max_position_embeddings;
    /** Tokens that the model is configured for. */
    int64_t max_position_embeddings;
    /** yarn, longrope: replaces the factor that the rule computes. */
    double attention_factor;
    /** yarn: turns within the trained length above which frequencies stay; 32. */
    double beta_fast;
    /** yarn: turns within the trained length below which frequencies are stretched whole; 1. */
    double beta_slow;
    /** yarn: weight of the logarithm in the attention factor. */
    double mscale;
    /** yarn: the same weight in the factor that divides it. */
    double mscale_all_dim;
    /** yarn: 1, the default, rounds the ramp's ends to whole pairs; 0 does not. */
    int32_t truncate;
    /** longrope: [rotary_dim / 2] factors for sequences within the trained length. */
    const double *short_factor;
    /** longrope: [rotary_dim / 2] factors for longer sequences. */
    const double *long_factor;
    /** llama3: the trained length divided by this is the wavelength beyond which frequencies are stretched whole. */
    double low_freq_factor;
    /** llama3: the trained length divided by this is the wavelength below which frequencies stay. */
    double high_freq_factor;
    /** proportional: the share of the head that is rotated. */
    double partial_rotary_factor;
} gyre_frequency_rule;

/** The rule "default" with theta 10000. */
static inline gyre_frequency_rule gyre_frequency_defaults(void) {
    gyre_frequency_rule r;
    memset(&r, 0, sizeof r);
    r.size = (uint32_t)sizeof r;
    r.rope_type = "default";
    r.rope_theta = 10000.0;
    r.truncate = 1;
    return r;
}

/** Forms inv_freq[i], i in [0, rotary_dim / 2), in radians a token, and the factor s that cos and sin are multiplied by. `length`
 *  is the tokens of the sequence, which dynamic and longrope read; 0: not known. Computes in double.
 *  Errors: BAD_ARGUMENT (null, unknown rule, a missing or impossible parameter), BAD_SHAPE (rotary_dim odd, <= 0 or
 *  above head_dim; head_dim <= 0; rotary_dim 2 with dynamic). */
GYRE_API gyre_status gyre_frequencies(const gyre_frequency_rule *rule, int32_t rotary_dim, int32_t head_dim,
                                      int64_t length, double *inv_freq, double *attention_factor);

GYRE_GROWING_LAYOUT(gyre_frequency_rule, partial_rotary_factor, 136, 128, 120, 112);

#ifdef __cplusplus
}
#endif
#endif
