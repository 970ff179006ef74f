/// What a kernel takes and what the runtime hands over are the same: compared when a library is registered.
#pragma once
#include "core/argument_row.h"
#include "core/registry.h"

namespace gyre {

/// Compares what Halide says of a kernel's arguments with the table of its operation: names, types, ranks and order. Kernels of
/// operations that the runtime does not know pass, since no call runs them.
/// Errors: UNSUPPORTED, with both lists; BAD_ARGUMENT (nothing is said of the arguments).
gyre_status check_arguments(const gyre_kernel &kernel);

/// Where a kernel has the arguments of its table.
ArgumentPlaces find_places(const gyre_kernel &kernel, const ArgumentRow *rows, size_t count);

template <typename Table>
ArgumentPlaces find_places(const gyre_kernel &kernel) {
    return find_places(kernel, Table::argument_rows, Table::argument_count);
}

} // namespace gyre
