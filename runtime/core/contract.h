/// What a kernel takes and what the runtime hands over are the same: compared when a library is registered.
#pragma once
#include "core/argument_row.h"
#include "core/registry.h"

namespace gyre {

/// What kernels of an operation are called with.
struct ArgumentTable {
    std::string_view operation;
    bool on_device;
    const ArgumentRow *rows;
    size_t count;
};

template <typename Table>
constexpr ArgumentTable argument_table(std::string_view operation, bool on_device = false) {
    return {operation, on_device, Table::argument_rows, Table::argument_count};
}

struct ArgumentTables {
    const ArgumentTable *first;
    size_t count;
};

/// Tables that are where their operations are. A program that calls none of these operations is linked without them, and no call
/// runs kernels of theirs there.
[[gnu::weak]] extern const ArgumentTables backward_tables, linear_tables, device_tables;

/// Compares what Halide says of a kernel's arguments with the table of its operation: names, types, ranks and order. Kernels of
/// operations that are not known, or not linked, pass, since no call runs them.
/// Errors: UNSUPPORTED, with both lists; BAD_ARGUMENT (nothing is said of the arguments).
gyre_status check_arguments(const gyre_kernel &kernel);

/// The places of a table's arguments in a kernel's call.
ArgumentPlaces find_places(const gyre_kernel &kernel, const ArgumentRow *rows, size_t count);

/// The places of the table of a device's kernels, of none where they are not linked.
ArgumentPlaces find_places_on_device(const gyre_kernel &kernel);

template <typename Table>
ArgumentPlaces find_places(const gyre_kernel &kernel) {
    return find_places(kernel, Table::argument_rows, Table::argument_count);
}

} // namespace gyre
