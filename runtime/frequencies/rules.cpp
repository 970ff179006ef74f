/// The rules with at most one idea each; yarn and longrope have a file of their own.
#include "frequencies/rules.h"
#include "core/error.h"

#include <algorithm>
#include <cmath>

namespace gyre::frequencies {

double geometric(double theta, int32_t pair, int32_t dim) { return std::pow(theta, -2.0 * pair / dim); }

gyre_status require_factor(const Request &request) {
    if (request.rule.factor == 0)
        return refuse(GYRE_BAD_ARGUMENT, "factor", "not given, and rule \"%s\" needs it", request.rule.rope_type);
    return GYRE_OK;
}

gyre_status resolve_trained_length(const Request &request, double &trained_length) {
    const gyre_frequency_rule &rule = request.rule;
    const int64_t tokens =
        rule.original_max_position_embeddings ? rule.original_max_position_embeddings : rule.max_position_embeddings;
    if (tokens == 0)
        return refuse(GYRE_BAD_ARGUMENT, "original_max_position_embeddings", "not given, and rule \"%s\" needs it",
                      rule.rope_type);
    trained_length = static_cast<double>(tokens);
    return GYRE_OK;
}

/// Su et al., RoFormer, arXiv:2104.09864, section 3.2.2.
gyre_status default_rule(const Request &request, Result &result) {
    for (int32_t i = 0; i < request.pairs(); i++)
        result.inv_freq[i] = geometric(request.rule.rope_theta, i, request.rotary_dim);
    return GYRE_OK;
}

/// Chen et al., position interpolation, arXiv:2306.15595: positions are divided by the factor, hence frequencies are.
gyre_status linear_rule(const Request &request, Result &result) {
    GYRE_TRY(require_factor(request));
    for (int32_t i = 0; i < request.pairs(); i++)
        result.inv_freq[i] = geometric(request.rule.rope_theta, i, request.rotary_dim) / request.rule.factor;
    return GYRE_OK;
}

/// NTK-aware scaling: theta grows with the sequence beyond the configured length, so that only slow pairs stretch.
gyre_status dynamic_rule(const Request &request, Result &result) {
    const gyre_frequency_rule &rule = request.rule;
    GYRE_TRY(require_factor(request));
    if (rule.max_position_embeddings == 0)
        return refuse(GYRE_BAD_ARGUMENT, "max_position_embeddings", "not given, and rule \"dynamic\" needs it");
    if (request.rotary_dim == 2)
        return refuse(GYRE_BAD_SHAPE, "rotary_dim",
                      "got 2, expected at least 4: rule \"dynamic\" divides by rotary_dim - 2");
    const double configured = static_cast<double>(rule.max_position_embeddings);
    const double length = std::max(static_cast<double>(request.length), configured);
    const double exponent = static_cast<double>(request.rotary_dim) / (request.rotary_dim - 2);
    const double theta = rule.rope_theta * std::pow(rule.factor * length / configured - (rule.factor - 1), exponent);
    if (!std::isfinite(theta))
        return refuse(GYRE_BAD_ARGUMENT, "factor", "got %g, which stretches rope_theta %g to %g at %.0f tokens",
                      rule.factor, rule.rope_theta, theta, length);
    for (int32_t i = 0; i < request.pairs(); i++) result.inv_freq[i] = geometric(theta, i, request.rotary_dim);
    return GYRE_OK;
}

/// Llama 3.1: pairs that turn rarely within the trained length are slowed by the factor, fast ones are kept, those
/// between blend.
gyre_status llama3_rule(const Request &request, Result &result) {
    const gyre_frequency_rule &rule = request.rule;
    GYRE_TRY(require_factor(request));
    double trained_length = 0;
    GYRE_TRY(resolve_trained_length(request, trained_length));
    if (rule.low_freq_factor == 0)
        return refuse(GYRE_BAD_ARGUMENT, "low_freq_factor", "not given, and rule \"llama3\" needs it");
    if (rule.high_freq_factor <= rule.low_freq_factor)
        return refuse(GYRE_BAD_ARGUMENT, "high_freq_factor", "got %g, expected more than low_freq_factor, which is %g",
                      rule.high_freq_factor, rule.low_freq_factor);

    const double two_pi = 2 * std::acos(-1.0);
    for (int32_t i = 0; i < request.pairs(); i++) {
        const double kept = geometric(rule.rope_theta, i, request.rotary_dim);
        const double turns = trained_length * kept / two_pi;
        const double blend = (turns - rule.low_freq_factor) / (rule.high_freq_factor - rule.low_freq_factor);
        const double share = std::clamp(blend, 0.0, 1.0);
        result.inv_freq[i] = share * kept + (1 - share) * (kept / rule.factor);
    }
    return GYRE_OK;
}

/// The exponent's denominator is the whole head, and pairs beyond the rotated share stand still.
gyre_status proportional_rule(const Request &request, Result &result) {
    const gyre_frequency_rule &rule = request.rule;
    if (rule.partial_rotary_factor > 1)
        return refuse(GYRE_BAD_ARGUMENT, "partial_rotary_factor", "got %g, expected at most 1",
                      rule.partial_rotary_factor);
    const double share = rule.partial_rotary_factor == 0 ? 1.0 : rule.partial_rotary_factor;
    const double factor = rule.factor == 0 ? 1.0 : rule.factor;
    const int32_t turning = static_cast<int32_t>(std::floor(share * request.head_dim / 2));
    for (int32_t i = 0; i < request.pairs(); i++)
        result.inv_freq[i] = i < turning ? geometric(rule.rope_theta, i, request.head_dim) / factor : 0.0;
    return GYRE_OK;
}

} // namespace gyre::frequencies
