/// The options of commands that also compute gradients: of the result, and files for those of q, k and v.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace gyre::cli {

struct GradientOptions {
    std::string out_grad, q_grad, k_grad, v_grad; // files

    bool given() const { return !out_grad.empty(); }
    /// Throws UsageError unless all are given or none.
    void check() const;
};

void add_gradient_options(CLI::App &app, GradientOptions &options);

} // namespace gyre::cli
