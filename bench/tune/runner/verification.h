/// Comparison of a library's results with the oracles in double that the tests use, which share no code with kernels.
#pragma once

#include "shape.h"

#include <gyre/gyre.h>

#include <optional>
#include <string>
#include <vector>

namespace gyre::tune {

/// What to compare: small and awkward calls; more of them; or only calls of the lengths that are timed, for kernels
/// that an autoscheduler made, which write past their outputs where lengths are ragged.
struct Effort {
    bool thorough = false;
    std::optional<Shape> only;
};

/// See Operation::verify.
int verify_attention(gyre_context *context, const gyre_kernel_info &kernel, const Effort &effort);
int verify_rotary(gyre_context *context, const gyre_kernel_info &kernel, const Effort &effort);

/// Throws WrongResult that names the call and the worst element, if one differs by more than its tolerance or is NaN
/// where the other is not. `tolerances`: one for all, or one an element.
void compare(const std::string &call, const char *what, const std::vector<double> &got,
             const std::vector<double> &expected, const std::vector<double> &tolerances);

/// Throws WrongResult.
void require(bool holds, const std::string &call, const std::string &otherwise);

} // namespace gyre::tune
