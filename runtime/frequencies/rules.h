/// The rules that turn the rotary parameters of a model's configuration into frequencies, one function each.
/// Every rule first refuses what it cannot use, then writes all of its result.
#pragma once
#include "gyre/gyre.h"

#include <cstdint>

namespace gyre::frequencies {

/// What was asked for. Numbers are already known to be finite and not negative; 0 means "not given".
struct Request {
    gyre_frequency_rule rule = gyre_frequency_defaults();
    int32_t rotary_dim = 0;
    int32_t head_dim = 0;
    int64_t length = 0;

    int32_t pairs() const { return rotary_dim / 2; }
};

struct Result {
    double *inv_freq = nullptr; // [pairs], radians a token
    double attention_factor = 1.0;
};

using Rule = gyre_status (*)(const Request &request, Result &result);

gyre_status default_rule(const Request &request, Result &result);
gyre_status linear_rule(const Request &request, Result &result);
gyre_status dynamic_rule(const Request &request, Result &result);
gyre_status yarn_rule(const Request &request, Result &result);
gyre_status longrope_rule(const Request &request, Result &result);
gyre_status llama3_rule(const Request &request, Result &result);
gyre_status proportional_rule(const Request &request, Result &result);

/// theta^(-2 pair / dim): the geometric series that all rules start from.
double geometric(double theta, int32_t pair, int32_t dim);

/// The stretch that yarn and longrope work with: `factor`, else max_position_embeddings / the trained length.
gyre_status resolve_factor(const Request &request, double trained_length, double &factor);

/// The number of tokens a model was trained on: `original_max_position_embeddings`, else `max_position_embeddings`.
gyre_status resolve_trained_length(const Request &request, double &trained_length);

/// Refuses a `factor` that was not given.
gyre_status require_factor(const Request &request);

} // namespace gyre::frequencies
