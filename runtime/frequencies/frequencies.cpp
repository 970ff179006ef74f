/// gyre_frequencies(): checks what every rule shares, runs the rule that `rope_type` names, hands over its result.
///
/// gyre/frequencies.h says what each rule reads. HF transformers' functions by the same names give the same numbers.
///
/// A new rule is one function, declared in rules.h, one row of `rules`, and one of the header's table.
#include "core/arguments.h"
#include "core/entry.h"
#include "frequencies/rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

namespace gyre::frequencies {
namespace {

struct NamedRule {
    const char *name;
    Rule run;
};

constexpr NamedRule rules[] = {
    {"default", default_rule},   {"linear", linear_rule}, {"dynamic", dynamic_rule},           {"yarn", yarn_rule},
    {"longrope", longrope_rule}, {"llama3", llama3_rule}, {"proportional", proportional_rule},
};

gyre_status unknown_rule(const char *name) {
    char known[160] = "";
    for (const NamedRule &rule : rules) {
        const size_t used = std::strlen(known);
        std::snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", rule.name);
    }
    return refuse(GYRE_BAD_ARGUMENT, "rope_type", "got \"%.64s\", expected one of %s", name, known);
}

/// No parameter of any rule can be negative, infinite or NaN, so all are checked, whether or not this rule reads them.
gyre_status check_numbers(gyre_frequency_rule &rule) {
    const struct {
        const char *name;
        double value;
    } reals[] = {{"rope_theta", rule.rope_theta},
                 {"factor", rule.factor},
                 {"attention_factor", rule.attention_factor},
                 {"beta_fast", rule.beta_fast},
                 {"beta_slow", rule.beta_slow},
                 {"mscale", rule.mscale},
                 {"mscale_all_dim", rule.mscale_all_dim},
                 {"low_freq_factor", rule.low_freq_factor},
                 {"high_freq_factor", rule.high_freq_factor},
                 {"partial_rotary_factor", rule.partial_rotary_factor}};
    for (const auto &real : reals)
        if (!std::isfinite(real.value) || real.value < 0)
            return refuse(GYRE_BAD_ARGUMENT, real.name, "got %g, expected a finite number, 0 (not given) or above",
                          real.value);

    if (rule.rope_theta == 0) rule.rope_theta = gyre_frequency_defaults().rope_theta;
    if (rule.rope_theta < 1)
        return refuse(GYRE_BAD_ARGUMENT, "rope_theta", "got %g, expected at least 1", rule.rope_theta);
    if (rule.factor != 0 && rule.factor < 1)
        return refuse(GYRE_BAD_ARGUMENT, "factor", "got %g, expected at least 1", rule.factor);
    if (rule.original_max_position_embeddings < 0)
        return refuse(GYRE_BAD_ARGUMENT, "original_max_position_embeddings", "got %lld, expected a number of tokens",
                      static_cast<long long>(rule.original_max_position_embeddings));
    if (rule.max_position_embeddings < 0)
        return refuse(GYRE_BAD_ARGUMENT, "max_position_embeddings", "got %lld, expected a number of tokens",
                      static_cast<long long>(rule.max_position_embeddings));
    if (rule.truncate != 0 && rule.truncate != 1)
        return refuse(GYRE_BAD_ARGUMENT, "truncate", "got %d, expected 0 or 1", static_cast<int>(rule.truncate));
    return GYRE_OK;
}

gyre_status check_request(const Request &request) {
    if (request.head_dim <= 0)
        return refuse(GYRE_BAD_SHAPE, "head_dim", "got %d, expected at least 1", static_cast<int>(request.head_dim));
    if (request.rotary_dim <= 0 || request.rotary_dim % 2 != 0 || request.rotary_dim > request.head_dim)
        return refuse(GYRE_BAD_SHAPE, "rotary_dim", "got %d, expected an even number from 2 to head_dim, which is %d",
                      static_cast<int>(request.rotary_dim), static_cast<int>(request.head_dim));
    if (request.length < 0)
        return refuse(GYRE_BAD_ARGUMENT, "length", "got %lld, expected a number of tokens, or 0 if not known",
                      static_cast<long long>(request.length));
    return GYRE_OK;
}

/// Runs the rule into memory of its own, so that a failure leaves the caller's untouched.
gyre_status run(Rule rule, const Request &request, double *inv_freq, double *attention_factor) {
    const int32_t pairs = request.pairs();
    const std::unique_ptr<double[]> computed(new (std::nothrow) double[static_cast<size_t>(pairs)]);
    if (!computed) return fail(Failure::out_of_memory, "no memory for %d frequencies", static_cast<int>(pairs));
    Result result;
    result.inv_freq = computed.get();
    GYRE_TRY(rule(request, result));

    for (int32_t i = 0; i < pairs; i++)
        if (!std::isfinite(computed[i]))
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("inv_freq[%d]", static_cast<int>(i)),
                          "becomes %g under rule \"%s\": its parameters are out of range", computed[i],
                          request.rule.rope_type);
    std::copy(computed.get(), computed.get() + pairs, inv_freq);
    *attention_factor = result.attention_factor;
    return GYRE_OK;
}

gyre_status compute(const gyre_frequency_rule *rule, int32_t rotary_dim, int32_t head_dim, int64_t length,
                    double *inv_freq, double *attention_factor) {
    Request request;
    request.rotary_dim = rotary_dim;
    request.head_dim = head_dim;
    request.length = length;
    constexpr size_t shortest = offsetof(gyre_frequency_rule, factor);
    GYRE_TRY(adopt(rule, "rule", gyre_frequency_defaults(), shortest, &request.rule));
    if (!inv_freq) return refuse(GYRE_BAD_ARGUMENT, "inv_freq", "got NULL, expected room for rotary_dim / 2 doubles");
    if (!attention_factor) return refuse(GYRE_BAD_ARGUMENT, "attention_factor", "got NULL, expected a double");
    const char *name = request.rule.rope_type;
    if (!name)
        return refuse(GYRE_BAD_ARGUMENT, "rope_type", "got NULL, expected the name of a rule such as \"default\"");
    GYRE_TRY(check_numbers(request.rule));
    GYRE_TRY(check_request(request));
    for (const NamedRule &known : rules)
        if (std::strcmp(known.name, name) == 0) return run(known.run, request, inv_freq, attention_factor);
    return unknown_rule(name);
}

} // namespace
} // namespace gyre::frequencies

extern "C" gyre_status gyre_frequencies(const gyre_frequency_rule *rule, int32_t rotary_dim, int32_t head_dim,
                                        int64_t length, double *inv_freq, double *attention_factor) {
    return gyre::enter(
        [&] { return gyre::frequencies::compute(rule, rotary_dim, head_dim, length, inv_freq, attention_factor); });
}
