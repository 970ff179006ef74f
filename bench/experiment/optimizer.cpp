#include "optimizer.h"

#include "console/errors.h"
#include "elementwise.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace gyre::experiment {

double learning_rate(const OptimizerOptions &o, std::int64_t step, std::int64_t steps) {
    const double rising = static_cast<double>(steps) * o.warm_up, at = static_cast<double>(step);
    if (at < rising) return o.rate * (at + 1) / rising;
    const double pi = 3.141592653589793, done = (at - rising) / (static_cast<double>(steps) - rising);
    return o.rate * (o.last_rate + (1 - o.last_rate) * 0.5 * (1 + std::cos(pi * done)));
}

Optimizer::Optimizer(const std::vector<Parameter> &parameters, const OptimizerOptions &options)
    : parameters_(parameters), options_(options) {
    for (const Parameter &p : parameters) {
        first.emplace_back(p.size());
        second.emplace_back(p.size());
    }
}

void Optimizer::clear_gradients() {
    for (const Parameter &p : parameters_) std::fill_n(p.gradients, p.size(), 0.0f);
}

double Optimizer::update(std::int64_t step, std::int64_t steps) {
    double squares = 0;
    for (const Parameter &p : parameters_)
        for (std::size_t i = 0; i < p.size(); i++) squares += static_cast<double>(p.gradients[i]) * p.gradients[i];
    const double norm = std::sqrt(squares);
    if (!std::isfinite(norm))
        throw cli::RunError("step " + std::to_string(step) + ": the gradients are not finite; expected finite numbers");

    const auto t = static_cast<double>(step + 1);
    const double rate = learning_rate(options_, step, steps);
    AdamStep s{};
    s.gradient_factor = static_cast<float>(std::min(1.0, options_.largest_norm / (norm + 1e-6)));
    s.beta1 = static_cast<float>(options_.beta1);
    s.beta2 = static_cast<float>(options_.beta2);
    s.rate = static_cast<float>(rate / (1 - std::pow(options_.beta1, t)));
    s.second_deviation = static_cast<float>(1 / std::sqrt(1 - std::pow(options_.beta2, t)));
    s.epsilon = static_cast<float>(options_.epsilon);
    for (std::size_t i = 0; i < parameters_.size(); i++) {
        const Parameter &p = parameters_[i];
        s.decay = p.shape.size() == 1 ? 1.0f : static_cast<float>(1 - rate * options_.weight_decay);
        adam(static_cast<std::int64_t>(p.size()), s, p.gradients, first[i].data(), second[i].data(), p.values);
    }
    return norm;
}

} // namespace gyre::experiment
