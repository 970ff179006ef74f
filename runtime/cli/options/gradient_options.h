/// The options of commands that also compute gradients: of the result, and files for those of q, k and v.
#pragma once

#include "console/command.h"

#include <gyre/gyre.h>

#include <string>

namespace gyre::cli {

struct GradientOptions {
    std::string out_grad, q_grad, k_grad, v_grad; // files

    bool given() const { return !out_grad.empty(); }
    /// Throws UsageError unless all are given or none.
    void check() const;
};

/// Views of their memory, and the option and file that the first came from.
struct GradientTensors {
    gyre_tensor out_grad, q_grad, k_grad, v_grad;
    std::string out_grad_name;
};

void add_gradient_options(const Command &command, GradientOptions &options);

} // namespace gyre::cli
