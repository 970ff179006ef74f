/// What the runner can tune, one row an operation.
#pragma once

#include "verification.h"
#include "workload.h"

#include <gyre/gyre.h>

namespace gyre::tune {

struct Operation {
    const char *name;
    std::unique_ptr<Workload> (*workload)(const gyre_kernel_info &kernel, const Shape &shape);
    /// Compares with an oracle in double, and returns in how many calls; throws WrongResult.
    int (*verify)(gyre_context *context, const gyre_kernel_info &kernel, const Effort &effort);
};

/// Throws Failure for an operation without a row.
const Operation &operation_of(const gyre_kernel_info &kernel);

} // namespace gyre::tune
