/// yarn and longrope: rules that extend the context pair by pair and rescale cos and sin to keep the scores' spread.
#include "core/error.h"
#include "frequencies/rules.h"

#include <algorithm>
#include <cmath>

namespace gyre::frequencies {

gyre_status resolve_factor(const Request &request, double trained_length, double &factor) {
    const gyre_frequency_rule &rule = request.rule;
    factor = rule.factor;
    if (factor != 0) return GYRE_OK;
    if (rule.max_position_embeddings == 0)
        return refuse(GYRE_BAD_ARGUMENT, "factor", "not given, and rule \"%s\" needs it or max_position_embeddings",
                      rule.rope_type);
    factor = static_cast<double>(rule.max_position_embeddings) / trained_length;
    if (factor < 1)
        return refuse(GYRE_BAD_ARGUMENT, "max_position_embeddings",
                      "got %lld, expected at least original_max_position_embeddings (%.0f), "
                      "because no factor is given",
                      static_cast<long long>(rule.max_position_embeddings), trained_length);
    return GYRE_OK;
}

namespace {

/// The temperature of Peng et al., YaRN, arXiv:2309.00071, equation 22, with DeepSeek's multiplier.
double yarn_scale(double factor, double multiplier) {
    return factor <= 1 ? 1.0 : 0.1 * multiplier * std::log(factor) + 1.0;
}

double yarn_attention_factor(const gyre_frequency_rule &rule, double factor) {
    if (rule.attention_factor != 0) return rule.attention_factor;
    if (rule.mscale == 0 || rule.mscale_all_dim == 0) return yarn_scale(factor, 1.0);
    return yarn_scale(factor, rule.mscale) / yarn_scale(factor, rule.mscale_all_dim);
}

/// The (fractional) pair that makes `turns` turns within the trained length.
double pair_of_turns(double turns, const Request &request, double trained_length) {
    const double two_pi = 2 * std::acos(-1.0);
    return request.rotary_dim * std::log(trained_length / (turns * two_pi)) / (2 * std::log(request.rule.rope_theta));
}

gyre_status check_factors(const char *name, const double *factors, int32_t pairs) {
    if (!factors)
        return refuse(GYRE_BAD_ARGUMENT, name, "got NULL, expected %d numbers: rule \"longrope\" needs it",
                      static_cast<int>(pairs));
    for (int32_t i = 0; i < pairs; i++)
        if (!std::isfinite(factors[i]) || factors[i] <= 0)
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s[%d]", name, static_cast<int>(i)),
                          "got %g, expected a finite number above 0", factors[i]);
    return GYRE_OK;
}

} // namespace

/// Pairs that turn more than beta_fast times within the trained length are kept, those below beta_slow are slowed by
/// the factor, and a linear ramp over the pairs joins the two.
gyre_status yarn_rule(const Request &request, Result &result) {
    const gyre_frequency_rule &rule = request.rule;
    double trained_length = 0;
    double factor = 0;
    GYRE_TRY(resolve_trained_length(request, trained_length));
    GYRE_TRY(resolve_factor(request, trained_length, factor));
    if (rule.rope_theta <= 1)
        return refuse(GYRE_BAD_ARGUMENT, "rope_theta", "got %g, expected more than 1 for rule \"yarn\"",
                      rule.rope_theta);
    const double beta_fast = rule.beta_fast == 0 ? 32.0 : rule.beta_fast;
    const double beta_slow = rule.beta_slow == 0 ? 1.0 : rule.beta_slow;
    if (beta_fast < beta_slow)
        return refuse(GYRE_BAD_ARGUMENT, "beta_fast", "got %g, expected at least beta_slow, which is %g", beta_fast,
                      beta_slow);

    double first = pair_of_turns(beta_fast, request, trained_length);
    double last = pair_of_turns(beta_slow, request, trained_length);
    if (rule.truncate) {
        first = std::floor(first);
        last = std::ceil(last);
    }
    first = std::max(first, 0.0);
    last = std::min(last, request.rotary_dim - 1.0);
    if (first == last) last += 0.001; // a ramp of no width would divide by zero

    for (int32_t i = 0; i < request.pairs(); i++) {
        const double slowed = std::clamp((i - first) / (last - first), 0.0, 1.0);
        const double kept = geometric(rule.rope_theta, i, request.rotary_dim);
        result.inv_freq[i] = kept / factor * slowed + kept * (1 - slowed);
    }
    result.attention_factor = yarn_attention_factor(rule, factor);
    return GYRE_OK;
}

/// Ding et al., LongRoPE, arXiv:2402.13753: a searched factor for every pair, one list within the trained length and
/// one beyond it.
gyre_status longrope_rule(const Request &request, Result &result) {
    const gyre_frequency_rule &rule = request.rule;
    double trained_length = 0;
    GYRE_TRY(check_factors("short_factor", rule.short_factor, request.pairs()));
    GYRE_TRY(check_factors("long_factor", rule.long_factor, request.pairs()));
    GYRE_TRY(resolve_trained_length(request, trained_length));

    result.attention_factor = rule.attention_factor;
    if (result.attention_factor == 0) {
        double factor = 0;
        GYRE_TRY(resolve_factor(request, trained_length, factor));
        if (factor > 1 && trained_length <= 1)
            return refuse(GYRE_BAD_ARGUMENT, "original_max_position_embeddings", "got %.0f, expected more than 1 token",
                          trained_length);
        result.attention_factor = factor <= 1 ? 1.0 : std::sqrt(1 + std::log(factor) / std::log(trained_length));
    }
    const double *factors = static_cast<double>(request.length) > trained_length ? rule.long_factor : rule.short_factor;
    for (int32_t i = 0; i < request.pairs(); i++)
        result.inv_freq[i] = geometric(rule.rope_theta, i, request.rotary_dim) / factors[i];
    return GYRE_OK;
}

} // namespace gyre::frequencies
