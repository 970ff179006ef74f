/// What the runner can tune, one row an operation.
#pragma once

#include "workload.h"

#include <gyre/gyre.h>

namespace gyre::tune {

struct Operation {
    const char *name;
    std::unique_ptr<Workload> (*workload)(const gyre_kernel_info &kernel, const Shape &shape);
    /// Compares with an oracle in double on small, awkward calls, and returns how many there were; throws WrongResult.
    /// `thorough`: more of them.
    int (*verify)(gyre_context *context, const gyre_kernel_info &kernel, bool thorough);
};

/// Throws Failure for an operation without a row.
const Operation &operation_of(const gyre_kernel_info &kernel);

} // namespace gyre::tune
