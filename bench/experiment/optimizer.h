/// AdamW with a schedule of its rate and a limit on the gradients' norm.
#pragma once

#include <gyre/multi_head_attention.h>

#include <cstdint>
#include <vector>

namespace gyre::experiment {

struct OptimizerOptions {
    double rate = 3e-3;      // the highest
    double warm_up = 0.1;    // share of the steps, in which the rate rises from 0 along a line
    double last_rate = 0.05; // of the highest, to which it then falls along half a cosine
    double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8;
    double weight_decay = 0.01; // of matrices
    double largest_norm = 1;    // of all gradients together
};

/// The rate of step 0, 1, … of `steps`.
double learning_rate(const OptimizerOptions &options, std::int64_t step, std::int64_t steps);

class Optimizer {
public:
    /// Optimises parameters that outlive it.
    Optimizer(const std::vector<Parameter> &parameters, const OptimizerOptions &options);

    void clear_gradients();
    /// Changes the parameters by their gradients; gives these' norm before it is limited. Step 0 is the first. Throws
    /// cli::RunError, with nothing changed, if the norm is not finite.
    double update(std::int64_t step, std::int64_t steps);

    /// First and second moments, one array a parameter: what a checkpoint keeps beside the parameters.
    std::vector<std::vector<float>> first, second;

private:
    const std::vector<Parameter> &parameters_;
    OptimizerOptions options_;
};

} // namespace gyre::experiment
