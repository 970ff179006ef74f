/// Kernels of a project's own generators (gyre_add_generator() in CMake), of which nothing is known but their metadata: tensors are of the
/// generator's estimates, and a candidate's results are compared with those of the reference, since knobs change no result.
#pragma once

#include "libraries.h"
#include "workload.h"

namespace gyre::tune {

/// True for kernels whose recipe says so.
bool is_own(const gyre_kernel_info &kernel);

std::unique_ptr<Workload> make_own_workload(const gyre_kernel_info &kernel, const Shape &shape);

/// Throws WrongResult if `library` gives other results than `reference`, beyond the rounding that another order of sums has.
void compare_with_reference(const Library &reference, const Library &library);

} // namespace gyre::tune
