/// Frequencies as CUDA kernels take them: generators/passes/cuda/turns.h.
#pragma once
#include <cstdint>

namespace gyre::cuda {

/// Radians a token in units of 2^-64 turns, modulo whole turns.
uint64_t turns_of(double radians);

} // namespace gyre::cuda
