/// Tensors of a call on a CUDA device: all of them are there, and checked like others from then on.
#pragma once
#include "core/call_tensors.h"
#include "core/tensor.h"
#include "cuda/driver/driver.h"

namespace gyre::cuda {

/// Checks that all of them are on one CUDA device, and the memory that each spans is that device's, as its driver says; then
/// calls them CPU tensors, so that the checks that all calls share take them. What a pointer points to is never read here.
/// `device`: theirs; -1 if all are empty. Errors: UNSUPPORTED (a tensor on the CPU, no driver), BAD_ARGUMENT.
gyre_status adopt_tensors(const CallTensors &tensors, Device *device);

/// True if every element of `batches` batch entries counts in 31 bits, as kernels count.
bool in_reach(const Heads &x, int64_t batches);

/// Checks that the memory of a tensor that is not empty is one device's, and `device`'s unless that is -1, which it then becomes.
/// Errors: BAD_ARGUMENT.
gyre_status check_memory(const Driver &driver, const NamedTensor &tensor, Device *device);

} // namespace gyre::cuda
